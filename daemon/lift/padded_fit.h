// Indices beyond the ends of a dimension that stand for one inside: the padding of convolutions and filters, and
// periodic grids. The modes have the names that numpy.pad and torch.nn have for them.
#pragma once

#include <cstdint>
#include <optional>

#include "lift/affine_fit.h"

namespace warpwright::lift {

enum class PaddingMode : uint8_t {
  kReplicate,  // 0 0 | 0 1 2 3 | 3 3
  kReflect,    // 2 1 | 0 1 2 3 | 2 1
  kSymmetric,  // 1 0 | 0 1 2 3 | 3 2
  kCircular    // 2 3 | 0 1 2 3 | 0 1; as the remainder of what is not negative
};

// The element of [0, extent) that `at` stands for.
struct PaddedFit {
  AffineFit at;
  PaddingMode mode = PaddingMode::kReplicate;
  int64_t extent = 0;
};
// Where most rows are inside, and those are affine. nullopt: the rest is none of the modes.
std::optional<PaddedFit> FitPadded(const Columns& x, const Column& values, int64_t extent);

}  // namespace warpwright::lift
