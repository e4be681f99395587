#include "schedule/contraction_group.h"

#include <algorithm>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

// The sum's variable in which neighbouring elements of the output differ; else its last one.
VariableId NeighbourOf(const Problem& problem, const ContractionGroup& group) {
  const StageReader& output = group.outputs.front();
  if (const auto offset = StoredOffset(problem, output))
    for (const auto& [variable, coefficient] : offset->coefficients)
      if (core::IsNumber(coefficient, 1)) return variable;
  return static_cast<VariableId>(problem.stage(group.stage).extents.size() - 1);
}

}  // namespace

std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group) {
  auto reduced = ReducedGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&reduced)) return *refusal;
  ContractionGroup found;
  found.stage = std::get<ReducedGroup>(reduced).stage;
  found.outputs = std::move(std::get<ReducedGroup>(reduced).outputs);
  const core::Stage& sum = problem.stage(found.stage);
  if (sum.extents.empty()) return Refuse("the sum has one result");
  auto contraction = ContractionOf(problem.form, sum, NeighbourOf(problem, found));
  if (!contraction) return Refuse(contraction.error().message, sum.line);
  found.contraction = std::move(*contraction);
  return found;
}

}  // namespace warpwright::schedule
