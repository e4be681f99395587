// Orders in which the blocks of a grid may run: what depends on it shows in the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace warpwright::sim {

// 0: ascending; 1: descending; more: neighbouring blocks run far apart. Since the stride is coprime with the number of
// blocks, each runs once.
class BlockOrder {
 public:
  BlockOrder(uint64_t blocks, uint64_t number) : blocks_(blocks), number_(blocks < 2 ? 0 : number) {
    if (number_ == 1) stride_ = blocks - 1;
    if (number_ > 1)
      for (stride_ = std::max<uint64_t>(1, blocks / 8 * 5); std::gcd(stride_, blocks) != 1;) --stride_;
  }
  uint64_t At(uint64_t place) const {
    if (number_ == 0) return place;
    return static_cast<uint64_t>((static_cast<__uint128_t>(place) * stride_ + blocks_ - number_ % blocks_) % blocks_);
  }

 private:
  uint64_t blocks_, number_;
  uint64_t stride_ = 1;
};

}  // namespace warpwright::sim
