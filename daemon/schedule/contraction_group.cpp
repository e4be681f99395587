#include "schedule/contraction_group.h"

#include <algorithm>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;
using VariableMap = std::map<VariableId, VariableId>;

VariableMap Identity(const core::Stage& stage) {
  VariableMap same;
  for (VariableId v = 0; v < stage.extents.size(); ++v) same[v] = v;
  return same;
}

// The sum's variables by those of the stage, if it reads the sum at one place, which is an element of its own.
std::optional<VariableMap> VariablesOfReader(const core::Stage& sum, const core::Stage& reader) {
  std::optional<VariableMap> found;
  const auto reachable = core::Reachable(reader);
  for (size_t id = 0; id < reader.nodes.size(); ++id) {
    const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&reader.nodes[id]) : nullptr;
    if (read == nullptr || !read->stage || read->tensor != sum.name) continue;
    VariableMap variables;
    for (VariableId v = 0; v < read->at.size(); ++v) {
      const auto* position = std::get_if<core::Affine>(&read->at[v]);
      const auto variable = position == nullptr ? std::nullopt : core::AsVariable(*position);
      if (!variable || *variable >= reader.extents.size() || !Equal(reader.extents[*variable], sum.extents[v]))
        return std::nullopt;
      variables[*variable] = v;
    }
    if (variables.size() != sum.extents.size() || variables.size() != reader.extents.size()) return std::nullopt;
    if (found && *found != variables) return std::nullopt;
    found = std::move(variables);
  }
  return found;
}

// The sum's variable in which neighbouring elements of the output differ; else its last one.
VariableId NeighbourOf(const Problem& problem, const ContractionGroup& group) {
  const ContractionGroup::Output& output = group.outputs.front();
  const core::Stage& stage = problem.stage(output.stage);
  if (const auto offset = FlatOffsetOf(ShapeOf(problem, stage.name), StoredAt(stage)))
    for (const auto& [variable, coefficient] : offset->coefficients)
      if (core::IsNumber(coefficient, 1)) return output.variables.at(variable);
  return static_cast<VariableId>(problem.stage(group.stage).extents.size() - 1);
}

}  // namespace

std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group) {
  std::vector<size_t> sums, others;
  for (const size_t i : group.stages) (core::HasReduction(problem.stage(i)) ? sums : others).push_back(i);
  if (sums.size() != 1) return Refuse(sums.empty() ? "there is no sum of products" : "there are several reductions");
  const core::Stage& sum = problem.stage(sums[0]);
  if (sum.extents.empty()) return Refuse("the sum has one result");

  ContractionGroup found;
  found.stage = sums[0];
  if (sum.output) found.outputs.push_back({sums[0], Identity(sum)});
  for (const size_t i : others) {
    const core::Stage& stage = problem.stage(i);
    auto variables = VariablesOfReader(sum, stage);
    if (!stage.output || !variables) return Refuse("results of the product are used at other places", stage.line);
    found.outputs.push_back({i, std::move(*variables)});
  }
  if (found.outputs.empty()) return Refuse("nobody reads the product");
  auto contraction = ContractionOf(problem.form, sum, NeighbourOf(problem, found));
  if (!contraction) return Refuse(contraction.error().message, sum.line);
  found.contraction = std::move(*contraction);
  return found;
}

}  // namespace warpwright::schedule
