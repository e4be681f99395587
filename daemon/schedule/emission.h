// All groups of a computation written by schedules, with the one that was asked for where it can; what cannot be
// written as it is, in phases.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>

#include "schedule/problem.h"

namespace warpwright::schedule {

// Names that code has, which are free again where it is not taken.
struct TakenNames {
  std::set<std::string> given;
  std::map<std::string, std::string> shared;
  std::set<std::string> kernels;  // of `given`
};

// Schedules that compute products of matrices in tiles.
bool HasTiles(const Schedule& schedule);

// The problem's input, of which the asked schedule makes at least a part, or any other where these count; or why it
// does not. `names`: what the problem's functions for names have given.
CodeOutcome Emit(const Problem& problem, const Schedule& asked, bool others_count, const ParameterValues& parameters,
                 TakenNames& names);

}  // namespace warpwright::schedule
