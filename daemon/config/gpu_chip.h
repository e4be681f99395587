// Which data of config/chips belongs to a GPU.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/chip.h"

namespace warpwright {

// The chip whose name the GPU's begins with, the longest such name. A GPU that is not listed gets the figures of a listed one of its architecture, with its own
// number of multiprocessors, clock, caches and memory bandwidth (bus width times clock), and an id made of its name. kEnvironment where
// no chip of its architecture is listed.
Result<Chip> ChipOf(const GpuFacts& gpu);
// Of these chips instead of those in config/chips.
Result<Chip> ChipOf(const GpuFacts& gpu, const std::vector<Chip>& chips);

}  // namespace warpwright
