// A group of stages that one kernel computes tile by tile: a sum of products, and what becomes of its results.
#pragma once

#include <variant>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/problem.h"
#include "schedule/stage_readers.h"

namespace warpwright::schedule {

struct ContractionGroup {
  size_t stage = 0;         // of Problem::form.stages: the sum's
  Contraction contraction;  // of that stage
  std::vector<StageReader> outputs;
};

// Refuses a group with another reduction, and one whose outputs do not take each result at one place.
std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group);

// A product of matrices of more terms than one thread should add up by itself: tiles keep what several results need.
bool IsLongProduct(const Problem& problem, const core::Stage& stage, const core::Reduce& sum);

}  // namespace warpwright::schedule
