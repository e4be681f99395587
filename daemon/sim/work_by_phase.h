// The work of a launch by phase (schedule_model.h), from how often each basic block ran.
#pragma once

#include <functional>
#include <vector>

#include "sim/cost_model.h"

namespace warpwright::sim {

// How often each basic block ran, by warp of a block; over the whole grid.
using BlockCounts = std::vector<std::vector<uint64_t>>;

// Sums over the grid, except for paths: those of the busiest warp times the warps of a block, since that warp
// determines how long a block lives.
std::vector<Work> WorkByPhase(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                              int warps_per_block, const BlockCounts& counts,
                              const std::function<LineCost(uint32_t)>& line_cost);

// How often the warp that waits most must wait for loads in the first phase that has any; 0 if none has. `blocks`: the
// number of blocks that ran.
double WaitsOfFirstPhase(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                         const BlockCounts& counts, double blocks);

}  // namespace warpwright::sim
