#include "sim/sector_cache.h"

#include <algorithm>
#include <new>

namespace warpwright::sim {

SectorCache::SectorCache(uint64_t bytes) {
  const auto sets = static_cast<uint32_t>(std::max<uint64_t>(1, bytes / (128 * kWays)));
  while (group_bits_ < kMaxGroupBits && sets >> (group_bits_ + 3) != 0)
    ++group_bits_;  // at least four groups, so that rounding loses little
  groups_ = sets >> group_bits_;
  set_count_ = groups_ << group_bits_;
  sets_.reset(static_cast<Set*>(std::aligned_alloc(alignof(Set), set_count_ * sizeof(Set))));
  if (!sets_) throw std::bad_alloc();
  std::fill_n(sets_.get(), set_count_, Set{{}, {}, 0xfedc'ba98'7654'3210});
}

void SectorCache::Invalidate(uint32_t tag, uint32_t sectors) {
  Set& set = sets_[SetIndex(tag)];
  if (const uint32_t found = Match(set, tag))
    set.sectors[static_cast<size_t>(__builtin_ctz(found))] &= static_cast<uint8_t>(~(sectors | sectors << 4));
}

uint64_t SectorCache::CleanAll() {
  if (!any_dirty_) return 0;
  any_dirty_ = false;
  uint64_t dirty = 0;
  for (uint32_t i = 0; i < set_count_; ++i)
    for (uint8_t& sectors : sets_[i].sectors) {
      dirty += Count(sectors >> 4);
      sectors &= 0x0f;
    }
  return dirty;
}

}  // namespace warpwright::sim
