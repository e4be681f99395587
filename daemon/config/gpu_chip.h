// Finds the chip data of config/chips for a GPU.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/chip.h"

namespace warpwright::config {

// The chip whose name is the longest prefix of the GPU's name. A GPU that is not listed gets the figures of a listed
// chip of its architecture, with its own number of multiprocessors, clock, caches and memory bandwidth (bus width times
// clock), and an id made from its name. kEnvironment if no chip of its architecture is listed.
Result<core::Chip> ChipOf(const core::GpuFacts& gpu);
// Searches these chips instead of those in config/chips.
Result<core::Chip> ChipOf(const core::GpuFacts& gpu, const std::vector<core::Chip>& chips);

}  // namespace warpwright::config
