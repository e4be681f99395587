#include "sim/cache_model.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/random.h"

namespace warpwright::sim {

namespace {

using Kind = MemoryRequest::Kind;

constexpr size_t kMaxHeldAccesses = 4 << 20;  // 32 MiB
constexpr uint64_t kGlobalBaseLine = kGlobalBase / 128;

// Of a mask of four. (x86-64 without POPCNT calls a library for it.)
uint64_t Count(uint32_t sectors) { return (0x4332322132212110ULL >> (4 * (sectors & 15))) & 15; }

LoadLevels& At(std::vector<LoadLevels>& levels, uint32_t line) {
  if (line >= levels.size()) levels.resize(line + 1);
  return levels[line];
}

}  // namespace

void Traffic::Add(const Traffic& other) {
  l1_tags += other.l1_tags;
  l2_read_slots += other.l2_read_slots;
  l2_write_slots += other.l2_write_slots;
  l2_atomic_slots += other.l2_atomic_slots;
}

uint32_t LineTag(uint64_t sector) {
  const uint64_t offset = sector / 4 - kGlobalBaseLine;
  return offset < 0x7fff'ffff ? static_cast<uint32_t>(offset) + 1
                              : static_cast<uint32_t>(MixBits(sector / 4)) | 0x8000'0000;
}

SectorCache::SectorCache(uint64_t bytes) {
  const auto sets = static_cast<uint32_t>(std::max<uint64_t>(1, bytes / (128 * kWays)));
  while (group_bits_ < kMaxGroupBits && sets >> (group_bits_ + 3) != 0)
    ++group_bits_;  // at least four groups, so that little is rounded off
  groups_ = sets >> group_bits_;
  set_count_ = groups_ << group_bits_;
  sets_.reset(static_cast<Set*>(std::aligned_alloc(64, (set_count_ * sizeof(Set) + 63) / 64 * 64)));
  if (!sets_) throw std::bad_alloc();
  std::memset(static_cast<void*>(sets_.get()), 0, set_count_ * sizeof(Set));
}

// Neighbouring lines have neighbouring sets (the host's caches like that), and a stride of any power of two reaches all
// sets.
SectorCache::Set& SectorCache::SetOf(uint32_t tag) const {
  const uint32_t group = tag >> group_bits_;
  const uint32_t hash = (group ^ (group >> 11)) * 0x9e3779b1u;
  const auto place = static_cast<uint32_t>((static_cast<uint64_t>(hash) * groups_) >> 32);
  return sets_[(place << group_bits_) | ((tag ^ (hash >> 8)) & ((1u << group_bits_) - 1))];
}

// A bit for each way that holds the tag.
uint32_t SectorCache::Match(const Set& set, uint32_t tag) {
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  const auto* tags = reinterpret_cast<const __m128i*>(set.tags.data());
  const auto equal = [&](int i) { return _mm_cmpeq_epi32(_mm_load_si128(tags + i), wanted); };
  const __m128i low = _mm_packs_epi32(equal(0), equal(1)), high = _mm_packs_epi32(equal(2), equal(3));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

SectorCache::Outcome SectorCache::Touch(uint32_t tag, uint8_t valid, uint8_t dirty) {
  Set& set = SetOf(tag);
  const auto bits = static_cast<uint8_t>(valid | dirty << 4);
  if (set.tags[0] == tag) {
    const uint8_t before = set.sectors[0] & 0xf;
    set.sectors[0] |= bits;
    return {before, 0};
  }
  const uint32_t found = Match(set, tag);
  const int way = found ? __builtin_ctz(found) : kWays - 1;  // the last is the least recently used
  const uint8_t old = set.sectors[static_cast<size_t>(way)];
  alignas(16) uint32_t tags[kWays];
  alignas(16) uint8_t sectors[kWays];
  std::memcpy(tags, set.tags.data(),
              sizeof tags);  // moving within registers is faster than a memmove of unknown length
  std::memcpy(sectors, set.sectors.data(), sizeof sectors);
  for (int i = 0; i < way; ++i) {
    set.tags[static_cast<size_t>(i) + 1] = tags[i];
    set.sectors[static_cast<size_t>(i) + 1] = sectors[i];
  }
  set.tags[0] = tag;
  if (found) {
    set.sectors[0] = old | bits;
    return {static_cast<uint8_t>(old & 0xf), 0};
  }
  set.sectors[0] = bits;
  return {0, static_cast<uint8_t>(Count(old >> 4))};
}

void SectorCache::Invalidate(uint32_t tag, uint8_t sectors) {
  Set& set = SetOf(tag);
  if (const uint32_t found = Match(set, tag))
    set.sectors[static_cast<size_t>(__builtin_ctz(found))] &= static_cast<uint8_t>(~(sectors | sectors << 4));
}

uint64_t SectorCache::CleanAll() {
  uint64_t dirty = 0;
  for (uint32_t i = 0; i < set_count_; ++i)
    for (uint8_t& sectors : sets_[i].sectors) {
      dirty += Count(sectors >> 4);
      sectors &= 0x0f;
    }
  return dirty;
}

L1Model::L1Model(const Chip& chip, uint64_t share_bytes)
    : multiprocessors_(chip.multiprocessors),
      share_bytes_(share_bytes),
      caches_(static_cast<size_t>(chip.multiprocessors)) {}
L1Model::~L1Model() = default;

SectorCache& L1Model::CacheOf(uint64_t block) {
  auto& cache = caches_[block % static_cast<uint64_t>(multiprocessors_)];
  if (!cache) cache = std::make_unique<SectorCache>(share_bytes_);
  return *cache;
}

void L1Model::OnRequest(const MemoryRequest& request) {
  block_ = request.block;
  if (request.warp >= warps_.size()) warps_.resize(request.warp + 1);
  if (held_ >= kMaxHeldAccesses) Replay();
  std::vector<LineAccess>& accesses = warps_[request.warp];
  const size_t before = accesses.size();
  LineAccess access;
  access.kind = static_cast<uint32_t>(request.kind);
  access.cached = request.cached_in_l1;
  access.first = 1;
  access.line = request.line & 0x7'ffff;
  for (size_t i = 0; i < request.sectors.size();) {
    const uint64_t line = request.sectors[i] / 4;
    uint32_t sectors = 0;
    do {
      sectors |= 1u << (request.sectors[i] & 3);
    } while (++i < request.sectors.size() && request.sectors[i] / 4 == line);
    access.collisions = access.first ? request.collisions & 31 : 0;
    access.tag = LineTag(line * 4);
    access.sectors = sectors & 0xf;
    accesses.push_back(access);
    access.first = 0;
  }
  held_ += accesses.size() - before;
}

void L1Model::Replay() {
  if (held_ == 0) return;
  SectorCache& cache = CacheOf(block_);
  std::vector<std::pair<const LineAccess*, const LineAccess*>> running;  // what is left of each warp
  for (const auto& warp : warps_)
    if (!warp.empty()) running.emplace_back(warp.data(), warp.data() + warp.size());
  while (!running.empty()) {
    for (auto& [next, end] : running) next = ReplayRequest(cache, next, end);
    std::erase_if(running, [](const auto& warp) { return warp.first == warp.second; });
  }
  for (auto& warp : warps_) warp.clear();
  held_ = 0;
}

// Returns the place behind the request.
const LineAccess* L1Model::ReplayRequest(SectorCache& cache, const LineAccess* access, const LineAccess* end) {
  const LineAccess* const request = access;
  const auto kind = static_cast<Kind>(request->kind);
  uint32_t first = 1;
  const auto send = [&](const LineAccess& from, uint32_t sectors) {
    LineAccess miss = from;
    miss.sectors = sectors & 0xf;
    miss.first = first;
    first = 0;
    misses_.push_back(miss);
  };
  do {
    const uint32_t sectors = access->sectors;
    if (kind == Kind::kRead) {
      const uint32_t hit =
          access->cached ? cache.Touch(access->tag, static_cast<uint8_t>(sectors), 0).before & sectors : 0;
      const uint64_t missed = Count(sectors & ~hit);
      counters_.l1_hit_sectors += Count(hit);
      counters_.l1_miss_sectors += missed;
      counters_.l2_read_bytes += 32 * missed;
      if (missed > 0) {
        traffic_.l2_read_slots += std::max<uint64_t>(missed, 2);
        send(*access, sectors & ~hit);
      }
    } else {
      counters_.l2_write_bytes += 32 * Count(sectors);
      if (kind == Kind::kAtomic) {
        cache.Invalidate(access->tag, static_cast<uint8_t>(sectors));  // a later load must not find the old value
        traffic_.l2_atomic_slots += Count(sectors) + access->collisions;
      } else {
        traffic_.l2_write_slots += 8 + 3 * Count(sectors);
      }
      send(*access, sectors);
    }
    traffic_.l1_tags += kind != Kind::kAtomic;
    ++access;
  } while (access != end && !access->first);
  if (kind == Kind::kRead && first) ++At(levels_, request->line).l1;  // nothing was sent
  return access;
}

void L1Model::FinishBlock(uint64_t block) {
  const size_t first = blocks_.empty() ? 0 : blocks_.back().last;
  block_ = block;
  Replay();
  blocks_.push_back({block, first, misses_.size()});
}

void L1Model::ClearMisses() {
  misses_.clear();
  blocks_.clear();
}

L2Model::L2Model(const Chip& chip)
    : capacity_(static_cast<uint64_t>(chip.l2_bytes)), cache_(capacity_), atomic_counts_(1024) {}

void L2Model::Consume(std::span<const LineAccess> misses) {
  Counters& counters = result_.counters;
  for (size_t i = 0; i < misses.size();) {
    const LineAccess& request = misses[i];
    const auto kind = static_cast<Kind>(request.kind);
    uint64_t request_missed = 0;
    do {
      const uint32_t sectors = misses[i].sectors;
      if (kind == Kind::kAtomic) CountAtomics(misses[i].tag, Count(sectors) + misses[i].collisions);
      const uint8_t dirty = kind == Kind::kRead ? 0 : static_cast<uint8_t>(sectors);
      const SectorCache::Outcome outcome = cache_.Touch(misses[i].tag, static_cast<uint8_t>(sectors), dirty);
      const uint32_t missing =
          kind == Kind::kWrite ? 0 : sectors & ~outcome.before;  // a plain store needs nothing from memory
      uint32_t fetched = missing;
      if (kind == Kind::kRead && missing != 0) {  // DRAM delivers pairs of sectors
        fetched = (((missing | missing >> 1) & 5) * 3) & ~outcome.before;
        if (fetched != missing) cache_.Touch(misses[i].tag, static_cast<uint8_t>(fetched), 0);
      }
      request_missed += Count(missing);
      counters.l2_hit_sectors += Count(sectors) - Count(missing);
      counters.l2_miss_sectors += Count(missing);
      counters.dram_read_bytes += 32 * Count(fetched);
      counters.dram_write_bytes += 32ull * outcome.evicted_dirty_sectors;
    } while (++i < misses.size() && !misses[i].first);
    if (kind == Kind::kRead) {
      LoadLevels& levels = At(result_.levels, request.line);
      ++(request_missed > 0 ? levels.dram : levels.l2);
    }
  }
}

void L2Model::CountAtomics(uint32_t tag, uint64_t sectors) {
  const uint64_t place = ((tag - 1) >> 3) + 1;  // 1 KiB
  if (atomic_used_ * 2 > atomic_counts_.size()) {
    std::vector<std::pair<uint64_t, uint64_t>> old(atomic_counts_.size() * 2);
    old.swap(atomic_counts_);
    for (const auto& [key, count] : old) {
      if (key == 0) continue;
      size_t at = MixBits(key) & (atomic_counts_.size() - 1);
      while (atomic_counts_[at].first != 0) at = (at + 1) & (atomic_counts_.size() - 1);
      atomic_counts_[at] = {key, count};
    }
  }
  size_t at = MixBits(place) & (atomic_counts_.size() - 1);
  while (atomic_counts_[at].first != 0 && atomic_counts_[at].first != place)
    at = (at + 1) & (atomic_counts_.size() - 1);
  if (atomic_counts_[at].first == 0) ++atomic_used_;
  atomic_counts_[at].first = place;
  atomic_counts_[at].second += sectors;
  result_.hottest_atomics = std::max(result_.hottest_atomics, atomic_counts_[at].second);
}

void L2Model::Write(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t kept = std::min(bytes, capacity_);  // earlier parts of a larger write are gone anyway
  address += bytes - kept;
  for (uint64_t sector = address / 32; sector <= (address + kept - 1) / 32; ++sector)
    cache_.Touch(LineTag(sector), static_cast<uint8_t>(1u << (sector & 3)), 0);
}

void L2Model::WriteBack() { result_.counters.dram_write_bytes += 32 * cache_.CleanAll(); }

L2Model::KernelResult L2Model::FinishKernel() {
  WriteBack();
  atomic_counts_.assign(1024, {});
  atomic_used_ = 0;
  return std::exchange(result_, {});
}

}  // namespace warpwright::sim
