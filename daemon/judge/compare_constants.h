// What the parts of the comparator share (compare.h says what it does). Private to judge/.
#pragma once

#include <cstddef>

#include "core/dtype.h"

namespace warpwright::judge {

inline constexpr size_t kShortRow = 64;  // rows below this are grouped
inline constexpr double kEpsilonF32 = 0x1.0p-23;
inline constexpr double kBoundFactor = 4;  // k
// The largest error of millions of elements beside that of a sample, if roundings are independent.
inline constexpr double kBeyondTheSample = 1.5, kBeyondTheLargest = 1.5;
// Without a truth: a sum averages the roundings of its terms, which makes a third of a unit of its usual magnitude.
inline constexpr double kKeptUnits = 4;

inline bool IsNarrow(core::DType dtype) { return dtype == core::DType::kF16 || dtype == core::DType::kBF16; }

}  // namespace warpwright::judge
