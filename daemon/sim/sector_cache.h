// Tags of a sectored set-associative cache: lines of 128 bytes in four sectors, 16 ways, hashed indices, LRU within the
// set.
//
// The hot functions are always inlined: cache_replay.cpp is compiled for AVX2, and no other part of the program may
// link against that version.
#pragma once

#include <emmintrin.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace warpwright::sim {

// Lines are identified by LineTag (machine.h); a mask has a bit for each of the four sectors.
class SectorCache {
 public:
  explicit SectorCache(uint64_t bytes);

  struct Outcome {
    uint32_t before = 0;                 // sectors that were present
    uint32_t evicted_dirty_sectors = 0;  // of the evicted line
    uint8_t* sectors = nullptr;          // of the line, for AddValid
  };
  // Afterwards the sectors of `valid` are present, and those of `dirty` are also dirty. `index` is SetIndex(tag).
  Outcome Touch(uint32_t index, uint32_t tag, uint32_t valid, uint32_t dirty);
  static void AddValid(const Outcome& touched, uint32_t valid) { *touched.sectors |= static_cast<uint8_t>(valid); }
  // Returns Outcome::before. ReadAgain is faster if the line is likely the one that was read last, Read if it is not;
  // BeforeReads must be called between a ReadAgain and a Read.
  uint32_t ReadAgain(uint32_t tag, uint32_t valid);
  void BeforeReads() { latest_tag_ = 0; }
  uint32_t Read(uint32_t index, uint32_t tag, uint32_t valid);
  uint32_t SetIndex(uint32_t tag) const;
  void Invalidate(uint32_t tag, uint32_t sectors);
  uint64_t CleanAll();  // dirty sectors become clean; returns how many there were
  // Prefetches a set for a Touch that follows shortly.
  void Prefetch(uint32_t index) const {
    const Set& set = sets_[index];
    __builtin_prefetch(set.tags.data());
    __builtin_prefetch(&set.order);
  }

  // The number of sectors in a mask of four. (x86-64 without POPCNT calls a library for it.)
  [[gnu::always_inline]] static uint32_t Count(uint32_t sectors) {
    return (0x4332322132212110ULL >> (4 * (sectors & 15))) & 15;
  }

 private:
  static constexpr int kWays = 16;
  static constexpr uint32_t kMaxGroupBits = 4;  // sets come in groups of up to 16
  struct alignas(32) Set {
    std::array<uint32_t, kWays> tags;    // 0: empty
    std::array<uint8_t, kWays> sectors;  // low half: valid, high half: dirty
    uint64_t order;                      // ways of 4 bits, the most recently used one lowest
  };
  static uint32_t Match(const Set& set, uint32_t tag);
  static uint64_t MovedToFront(uint64_t order, uint32_t way);

  struct Free {
    void operator()(Set* sets) const { std::free(sets); }
  };
  std::unique_ptr<Set[], Free> sets_;
  uint32_t group_bits_ = 0, groups_ = 1, set_count_ = 1;
  bool any_dirty_ = false;
  uint32_t latest_tag_ =
      0;  // of the latest ReadAgain, if nothing else was touched since: the most recently used line of its set
  uint8_t* latest_sectors_ = nullptr;
};

// Neighbouring lines have neighbouring sets (which suits the host's caches), and a stride of any power of two reaches
// all sets.
[[gnu::always_inline]] inline uint32_t SectorCache::SetIndex(uint32_t tag) const {
  const uint32_t group = tag >> group_bits_;
  const uint32_t hash = (group ^ (group >> 11)) * 0x9e3779b1u;
  const auto place = static_cast<uint32_t>((static_cast<uint64_t>(hash) * groups_) >> 32);
  return (place << group_bits_) | ((tag ^ (hash >> 8)) & ((1u << group_bits_) - 1));
}

// A bit for each way that holds the tag.
[[gnu::always_inline]] inline uint32_t SectorCache::Match(const Set& set, uint32_t tag) {
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  const auto* tags = reinterpret_cast<const __m128i*>(set.tags.data());
  const auto equal = [&](int i)
                         __attribute__((always_inline)) { return _mm_cmpeq_epi32(_mm_load_si128(tags + i), wanted); };
  const __m128i low = _mm_packs_epi32(equal(0), equal(1)), high = _mm_packs_epi32(equal(2), equal(3));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

[[gnu::always_inline]] inline uint64_t SectorCache::MovedToFront(uint64_t order, uint32_t way) {
  constexpr uint64_t kOnes = 0x1111'1111'1111'1111;
  const uint64_t other = order ^ (kOnes * way);                   // 0 at the position of the way
  const uint64_t zero = (other - kOnes) & ~other & (kOnes << 3);  // its lowest bit is at that position
  const uint64_t below = ((zero & -zero) >> 3) - 1;               // the positions below it
  return (order & ~(below << 4 | 15)) | (order & below) << 4 | way;
}

[[gnu::always_inline]] inline SectorCache::Outcome SectorCache::Touch(uint32_t index, uint32_t tag, uint32_t valid,
                                                                      uint32_t dirty) {
  const auto bits = static_cast<uint8_t>(valid | dirty << 4);
  if (dirty != 0) any_dirty_ = true;
  latest_tag_ = 0;
  Set& set = sets_[index];
  const uint64_t order = set.order;
  auto way = static_cast<uint32_t>(order & 15);
  if (set.tags[way] != tag) {
    const uint32_t found = Match(set, tag);
    if (found == 0) {
      way = static_cast<uint32_t>(order >> 60);  // the least recently used one
      const uint32_t evicted = set.sectors[way];
      set.tags[way] = tag;
      set.sectors[way] = bits;
      set.order = order << 4 | way;
      return {0, Count(evicted >> 4), &set.sectors[way]};
    }
    way = static_cast<uint32_t>(__builtin_ctz(found));
    set.order = MovedToFront(order, way);
  }
  const uint32_t before = set.sectors[way];
  set.sectors[way] = static_cast<uint8_t>(before | bits);
  return {before & 0xf, 0, &set.sectors[way]};
}

[[gnu::always_inline]] inline uint32_t SectorCache::ReadAgain(uint32_t tag, uint32_t valid) {
  if (tag != latest_tag_) {
    const Outcome outcome = Touch(SetIndex(tag), tag, valid, 0);
    latest_tag_ = tag;
    latest_sectors_ = outcome.sectors;
    return outcome.before;
  }
  const uint32_t before = *latest_sectors_;
  *latest_sectors_ = static_cast<uint8_t>(before | valid);
  return before & 0xf;
}

// L1 holds nothing dirty.
[[gnu::always_inline]] inline uint32_t SectorCache::Read(uint32_t index, uint32_t tag, uint32_t valid) {
  Set& set = sets_[index];
  const uint64_t order = set.order;
  if (const uint32_t found = Match(set, tag)) {
    const auto way = static_cast<uint32_t>(__builtin_ctz(found));
    const uint32_t before = set.sectors[way];
    set.sectors[way] = static_cast<uint8_t>(before | valid);
    set.order = MovedToFront(order, way);
    return before;
  }
  const auto way = static_cast<uint32_t>(order >> 60);
  set.tags[way] = tag;
  set.sectors[way] = static_cast<uint8_t>(valid);
  set.order = order << 4 | way;
  return 0;
}

}  // namespace warpwright::sim
