// What the status page reads. Invalid UTF-8 is replaced; lists and texts are bounded, and omitted items are counted.
#pragma once

#include <string>

#include "memory/trajectory.h"
#include "service/snapshot.h"

namespace warpwright::service {

// The names of snapshot.h, one object: {"version", "now", "ready", "not_ready", "queued", "queued_left_out", "jobs":
// [...], "repositories": [...], "counters", "gauges", "spend", "experiences"}. Non-finite numbers are null.
std::string SnapshotJson(const DaemonSnapshot& snapshot);

// {"task", "kernel", "device", "outcome", "gain", "original_us", "evaluations", "steps": [{"id", "kind", "round",
// "attempt", "method", "reason", "running", "summary", "verdict", "gain", "time_us", "accepted", "started",
// "finished"}], "left_out"}: the last kMaxTrajectorySteps steps, oldest first. Times are weighted over all cases. An
// evaluation is accepted when a later step built on its candidate.
inline constexpr size_t kMaxTrajectorySteps = 400;
std::string TrajectoryJson(const memory::TrajectoryView& view);

}  // namespace warpwright::service
