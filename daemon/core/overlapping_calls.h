// Two calls of one entry at the same time, on two streams: of what they share, one may change what the other has not
// read yet.
#pragma once

#include "core/launch_plan.h"

namespace warpwright::core {

// The operations of two calls in turns, one of each. The second call's arguments, and the workspaces that a call makes
// for itself, follow the plan's buffers; variables and kept workspaces are those of both. Equal to the plan where
// callers give no stream: such calls follow each other.
LaunchPlan OverlappingCalls(const LaunchPlan& plan);

}  // namespace warpwright::core
