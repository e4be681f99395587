// Which versions of a task its result stands on, and which were taken during the search and refused in the end.
#pragma once

#include <map>
#include <set>
#include <string>

#include "memory/trajectory.h"

namespace warpwright::memory {

struct Lineage {
  // Hashes: the accepted version and those that led to it; while none is accepted, all that were taken and not refused.
  std::set<std::string> kept;
  std::map<std::string, std::string> refused;  // by the full judge, with its reason
};
Lineage LineageOf(const TrajectoryView& view);

}  // namespace warpwright::memory
