// Sums of what a launch has counted, and what they say about blocks that were not run.
#pragma once

#include <cstdint>
#include <vector>

#include "core/counters.h"
#include "core/verdict.h"
#include "sim/cache_model.h"
#include "sim/work_by_phase.h"

namespace warpwright::sim {

// What has been counted at some point of a launch, in sums over the host threads.
struct LaunchCounts {
  uint64_t blocks = 0;
  core::Counters counters;
  std::vector<core::LineCounters> lines;
  BlockCounts block_counts;
  Traffic traffic;
};

void AddLines(std::vector<core::LineCounters>& sum, const std::vector<core::LineCounters>& lines);
// Lines that several parts of the code share are one.
void AddLineUses(std::vector<core::LineUse>& sum, const std::vector<core::LineUse>& uses);
void AddBlockCounts(BlockCounts& sum, const BlockCounts& counts);
// `all` plus `factor` times what was counted between `from` and `to`.
void Extrapolate(LaunchCounts& all, const LaunchCounts& from, const LaunchCounts& to, double factor);
// Those that cost most, the most expensive first.
std::vector<core::LineCounters> HottestLines(std::vector<core::LineCounters> lines);

}  // namespace warpwright::sim
