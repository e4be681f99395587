// What a daemon could be doing, for tests of the code that shows it.
#pragma once

#include <string>

#include "memory/trajectory.h"
#include "service/snapshot.h"

namespace warpwright::testing {

service::DaemonSnapshot IdleSnapshot();  // ready, nothing to do, nothing watched
service::DaemonSnapshot
BusySnapshot();  // two running jobs (120 with a trajectory), a queue, 41 ended jobs, three repositories
// Like BusySnapshot, but every text that comes from outside is this one.
service::DaemonSnapshot SnapshotOf(const std::string& text);
memory::TrajectoryView BusyTrajectory(const std::string& method = "vectorize_loads");

}  // namespace warpwright::testing
