// The orders in which the operations of a plan (not its setup) may run. CUDA's rules: operations of one stream run in
// order; one of the default stream (0, unless the caller gives that one, which is like any other) follows everything
// before it and precedes everything after it; a wait follows the latest record of its event at that point, and a wait
// for an event that was never recorded waits for nothing.
#pragma once

#include <vector>

#include "core/launch_plan.h"

namespace warpwright::core {

// The order farthest from the given one that the rules allow: whatever may run later does. Equal to the plan's if the
// rules allow only one order, as they do with a single stream.
std::vector<PlanOp> LatestFirst(const LaunchPlan& plan);

// [i][j]: whether operation i follows j in every order that the rules allow.
std::vector<std::vector<bool>> AlwaysBefore(const LaunchPlan& plan);

}  // namespace warpwright::core
