// Windows of sums whose terms beyond the edges are left out, as if 0 stood there: without a condition on every term,
// where their result is a number.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "schedule/window_plan.h"

namespace warpwright::schedule {

// An output whose terms beyond the edges are left out, by weights that may be infinite: 0 in their place would make no
// number of these.
struct LeftOut {
  core::Stage output;             // with its reductions and their conditions
  std::set<std::string> weights;  // tensors
};
struct ZeroFilledPlan {
  WindowPlan plan;
  LeftOut left_out;
};
// None: something else than elements of tensors, the same for all outputs of a thread, is what the terms are weighed
// by.
std::optional<ZeroFilledPlan> PlanWithZeros(const Problem& problem, const Group& group, const WindowChoice& choice);

}  // namespace warpwright::schedule
