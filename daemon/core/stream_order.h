// Which orders the operations of a plan may run in. CUDA's rules: operations of one stream follow each other; one of
// the default stream (0) follows everything before it and precedes everything behind it; a wait follows the newest
// record of its event at that point, and one of an event that nobody recorded waits for nothing.
#pragma once

#include <vector>

#include "core/launch_plan.h"

namespace warpwright::core {

// The order that is as far from the given one as the rules allow: whatever may run later does. Equal to `ops` where
// they allow one order only, as always with a single stream.
std::vector<PlanOp> LatestFirst(const std::vector<PlanOp>& ops);

}  // namespace warpwright::core
