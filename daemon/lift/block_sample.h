// Some blocks of a launch in place of all: of launches whose size the code fixes, and whose expressions would be too
// many.
#pragma once

#include <cstdint>
#include <vector>

#include "core/launch_plan.h"

namespace warpwright::lift {

using BlockList = std::vector<uint64_t>;  // ascending, in the order of execution

// About `count` blocks at a product of coordinates: the borders of every dimension, neighbours, and the middle. What is
// affine in a block's coordinates shows in them, and how far it reaches.
BlockList GridSample(const core::Dim3& grid, uint64_t count);
// `count` others, by chance.
BlockList RandomSample(const core::Dim3& grid, uint64_t count, uint64_t seed);

}  // namespace warpwright::lift
