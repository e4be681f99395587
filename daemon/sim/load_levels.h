// From which level the loads of each line came, and what follows for its cost.
#pragma once

#include <vector>

#include "core/chip.h"
#include "core/counters.h"
#include "core/verdict.h"
#include "sim/cache_model.h"
#include "sim/cost_model.h"

namespace warpwright::sim {

// Few blocks cannot show how much their neighbours share in L2: reads from DRAM beyond `bound` bytes become hits.
void BoundDramReads(double bound, core::Counters& counters, std::vector<LoadsByLevel>& levels);
// `counted`: nullptr if the line was never run.
LineCost CostOfLine(const core::Chip& chip, const LoadsByLevel& at, const core::LineCounters* counted);

}  // namespace warpwright::sim
