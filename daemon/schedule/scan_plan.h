// A running sum, product or extremum along an axis, and what becomes of its results.
#pragma once

#include <variant>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/stage_readers.h"

namespace warpwright::schedule {

// The terms up to the element: the term's position minus the element's is at most 0, or less than 0; or backwards.
struct Prefix {
  core::VariableId axis = 0, term = 0;
  bool backwards = false, exclusive = false;
};

struct ScanPlan {
  ReducedGroup group;
  core::Reduce reduce;
  Prefix prefix;
  Axis axis;
  std::vector<Axis> rows;  // the other variables
  bool along = true;       // neighbours on the axis are neighbours in memory
};
using ScanPlanOutcome = std::variant<core::RewriteRefusal, ScanPlan>;

ScanPlanOutcome PlanScan(const Problem& problem, const Group& group);

}  // namespace warpwright::schedule
