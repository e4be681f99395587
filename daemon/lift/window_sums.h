// A sum over an input, of the terms that a window meets, is one over the window: in sum_{i<L where 0 <= o - s i < K}
// x[i] w[o - s i] the terms are as many as the window has taps, K, and the input may be far longer.
#pragma once

#include <vector>

#include "core/computation.h"
#include "core/computation_program.h"

namespace warpwright::lift {

// Over the window wherever that is shorter, on the whole, at these sizes.
core::Computation WithSumsOverWindows(core::Computation computation, const std::vector<core::SizeValues>& sizes);

}  // namespace warpwright::lift
