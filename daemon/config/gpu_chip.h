// Which data of config/chips belongs to a GPU.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/chip.h"

namespace warpwright::config {

// The chip whose name the GPU's begins with, the longest such name. A GPU that is not listed gets the figures of a
// listed one of its architecture, with its own number of multiprocessors, clock, caches and memory bandwidth (bus width
// times clock), and an id made of its name. kEnvironment where no chip of its architecture is listed.
Result<core::Chip> ChipOf(const core::GpuFacts& gpu);
// Of these chips instead of those in config/chips.
Result<core::Chip> ChipOf(const core::GpuFacts& gpu, const std::vector<core::Chip>& chips);

}  // namespace warpwright::config
