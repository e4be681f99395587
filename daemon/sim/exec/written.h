// Which bytes have a value: shadow bytes of 0xff parallel to the memory, checked and set for all lanes of an access.
#pragma once

#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {

[[gnu::always_inline]] inline bool AllOnes(const uint8_t* p, int64_t n) {
  uint64_t all = UINT64_MAX;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    uint64_t v;
    std::memcpy(&v, p + k, 8);
    all &= v;
  }
  for (; k < n; ++k) all &= UINT64_MAX << 8 | p[k];
  return all == UINT64_MAX;
}

// kLanes: every element that the lanes read has a value; otherwise the first lane for which one does not. Elements of 8
// bytes are checked as two halves, in each of which some byte must be written, because compilers copy structs with
// their padding.
[[gnu::noinline]] inline uint32_t FirstUnwritten(const uint8_t* written, const int64_t* delta, uint32_t mask,
                                                 uint32_t element, uint32_t bytes) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    const uint8_t* w = written + delta[l];
    for (uint32_t k = 0; k < bytes; k += element) {
      if (element < 8) {
        if (!AllOnes(w + k, element)) return l;
      } else {
        for (uint32_t half = k; half < k + 8; half += 4) {
          uint32_t v;
          std::memcpy(&v, w + half, 4);
          if (v == 0) return l;
        }
      }
    }
  }
  return kLanes;
}
// The same of memory that outlives a call, where what the call found counts.
[[gnu::noinline]] inline uint32_t FirstWithoutValue(const Allocation& m, uint64_t offset, const int64_t* delta,
                                                    uint32_t mask, uint32_t element, uint32_t bytes) {
  for (uint32_t l = 0; l < kLanes; ++l)
    if (mask >> l & 1) NoteFound(m, offset + static_cast<uint64_t>(delta[l]), bytes);
  return FirstUnwritten(m.written + offset, delta, mask, element, bytes);
}
// For each element of a vector, the lanes for which it has no value.
[[gnu::noinline]] inline void UnwrittenElements(const uint8_t* written, const int64_t* delta, uint32_t mask,
                                                uint32_t element, uint32_t count, uint32_t* out) {
  for (uint32_t k = 0; k < count; ++k) {
    out[k] = 0;
    for (uint32_t left = mask; left != 0;) {
      const uint32_t lane = FirstUnwritten(written + k * element, delta, left, element, element);
      if (lane == kLanes) break;
      out[k] |= 1u << lane;
      left &= ~(1u << lane);
    }
  }
}
[[gnu::always_inline]] inline uint32_t FindUnwritten(const uint8_t* written, const int64_t* delta,
                                                     const AddressPattern& p, uint32_t mask, uint32_t element,
                                                     uint32_t bytes) {
  if (p.high - p.low <= 1024 && AllOnes(written + p.low, p.high - p.low)) return kLanes;
  return FirstUnwritten(written, delta, mask, element, bytes);
}
[[gnu::always_inline]] inline void MarkWritten(uint8_t* written, const int64_t* delta, const AddressPattern& p,
                                               uint32_t mask, uint32_t bytes) {
  if (p.dense) {
    std::memset(written + p.low, 0xff, static_cast<size_t>(p.high - p.low));
    return;
  }
  for (uint32_t l = 0; l < kLanes; ++l)
    if (mask >> l & 1) std::memset(written + delta[l], 0xff, bytes);
}

}  // namespace warpwright::sim::v3
