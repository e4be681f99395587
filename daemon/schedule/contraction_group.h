// A group of stages that one kernel computes tile by tile: a sum of products, and what becomes of its results.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

struct ContractionGroup {
  struct Output {
    size_t stage = 0;
    std::map<core::VariableId, core::VariableId> variables;  // the sum's, by this stage's
  };
  size_t stage = 0;         // of Problem::form.stages: the sum's
  Contraction contraction;  // of that stage
  std::vector<Output> outputs;
};

// Refuses a group with another reduction, and one whose outputs do not take each result at one place.
std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group);

}  // namespace warpwright::schedule
