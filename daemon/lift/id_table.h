// Ids of what is interned, by hash: open addressing. The hash decides nearly always, so that a search seldom looks at
// what an id stands for. 0 is no id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpwright::lift {

class IdTable {
 public:
  // The id for which `is_same(id)`; 0: there is none, and Insert may follow.
  template <typename IsSame>
  uint32_t Find(uint64_t hash, const IsSame& is_same) {
    const auto low = static_cast<uint32_t>(hash);
    for (at_ = low & mask(); buckets_[at_].id != 0; at_ = (at_ + 1) & mask())
      if (buckets_[at_].hash == low && is_same(buckets_[at_].id)) return buckets_[at_].id;
    return 0;
  }
  // Where the last Find, for the same hash, found none.
  void Insert(uint64_t hash, uint32_t id) {
    buckets_[at_] = {id, static_cast<uint32_t>(hash)};
    if (++size_ * 2 > buckets_.size()) Grow();
  }
  // What Find will look at comes nearer to the processor.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&buckets_[static_cast<uint32_t>(hash) & mask()]); }

 private:
  struct Bucket {
    uint32_t id = 0, hash = 0;
  };
  size_t mask() const { return buckets_.size() - 1; }
  void Grow() {
    std::vector<Bucket> before(buckets_.size() * 4);
    before.swap(buckets_);
    for (const Bucket& bucket : before) {
      if (bucket.id == 0) continue;
      size_t at = bucket.hash & mask();
      while (buckets_[at].id != 0) at = (at + 1) & mask();
      buckets_[at] = bucket;
    }
  }

  std::vector<Bucket> buckets_{1 << 12};
  size_t size_ = 0, at_ = 0;
};

}  // namespace warpwright::lift
