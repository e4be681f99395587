// What the status page reads. Invalid UTF-8 is replaced; lists are bounded.
#pragma once

#include <string>

#include "memory/trajectory.h"
#include "service/snapshot.h"

namespace warpwright {

std::string SnapshotJson(const DaemonSnapshot& snapshot);

// {"task", "kernel", "device", "outcome", "best_gain", "steps": [{"id", "kind", "round", "attempt", "method", "summary", "verdict",
// "gain", "time_us", "accepted", "running", "started", "finished"}], "left_out": n}: the last kMaxTrajectorySteps steps, oldest first.
inline constexpr size_t kMaxTrajectorySteps = 400;
std::string TrajectoryJson(const TrajectoryView& view);

}  // namespace warpwright
