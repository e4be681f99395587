#include "schedule/stage_readers.h"

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

VariableMap Identity(const core::Stage& stage) {
  VariableMap same;
  for (VariableId v = 0; v < stage.extents.size(); ++v) same[v] = v;
  return same;
}

}  // namespace

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

std::variant<core::RewriteRefusal, ReducedGroup> ReducedGroupOf(const Problem& problem, const Group& group) {
  std::vector<size_t> sums, others;
  for (const size_t i : group.stages) (core::HasReduction(problem.stage(i)) ? sums : others).push_back(i);
  if (sums.size() != 1) return Refuse(sums.empty() ? "there is no reduction" : "there are several reductions");
  const core::Stage& sum = problem.stage(sums[0]);
  ReducedGroup found;
  found.stage = sums[0];
  if (sum.output) found.outputs.push_back({sums[0], Identity(sum)});
  for (const size_t i : others) {
    const core::Stage& stage = problem.stage(i);
    auto variables = VariablesOfReader(sum, stage);
    if (!stage.output || !variables) return Refuse("results of the reduction are used at other places", stage.line);
    found.outputs.push_back({i, std::move(*variables)});
  }
  if (found.outputs.empty()) return Refuse("nobody reads the reduction");
  return found;
}

std::optional<FlatOffset> StoredOffset(const Problem& problem, const StageReader& output) {
  const core::Stage& stage = problem.stage(output.stage);
  const auto own = FlatOffsetOf(ShapeOf(problem, stage.name), StoredAt(stage));
  if (!own) return std::nullopt;
  FlatOffset offset{.coefficients = {}, .constant = own->constant};
  for (const auto& [variable, coefficient] : own->coefficients)
    offset.coefficients[output.variables.at(variable)] = coefficient;
  return offset;
}

}  // namespace warpwright::schedule
