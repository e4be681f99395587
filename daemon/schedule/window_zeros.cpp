#include "schedule/window_zeros.h"

#include <algorithm>

#include "core/affine.h"
#include "core/computation_inline.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

constexpr size_t kMostInlined = 256;  // nodes

// Whether the stage's value is no number where one of its sums is none: 0 times the rest of a maximum would be one.
bool KeepsNoNumber(const core::Stage& stage) {
  const auto free_of_sums = [&](auto&& self, core::NodeId id) -> bool {
    if (std::holds_alternative<core::Reduce>(stage.nodes[id])) return false;
    bool none = true;
    core::ForEachArgument(stage.nodes[id], [&](core::NodeId arg) { none = none && self(self, arg); });
    return none;
  };
  const auto keeps = [&](auto&& self, core::NodeId id) -> bool {
    const core::Node& node = stage.nodes[id];
    if (std::holds_alternative<core::Reduce>(node) || free_of_sums(free_of_sums, id)) return true;
    const auto* nary = std::get_if<core::Nary>(&node);
    const auto* call = std::get_if<core::Call>(&node);
    const bool arithmetic = nary && (nary->op == core::ReduceOp::kSum || nary->op == core::ReduceOp::kProduct);
    if (!arithmetic && !(call && core::Arity(call->function) == 1)) return false;
    bool all = true;
    core::ForEachArgument(node, [&](core::NodeId arg) { all = all && self(self, arg); });
    return all;
  };
  return keeps(keeps, static_cast<core::NodeId>(stage.nodes.size() - 1));
}

// The one output of the group, if all that is left out of its sums is weighed by elements of tensors.
std::optional<LeftOut> LeftOutOf(const Problem& problem, const Group& group) {
  core::Computation form = problem.form;
  form.stages.clear();
  for (const size_t i : group.stages) form.stages.push_back(problem.stage(i));
  form = core::Inlined(form, kMostInlined);
  if (form.stages.size() != 1 || !form.stages.front().domain.empty() || !form.stages.front().at.empty())
    return std::nullopt;
  if (!KeepsNoNumber(form.stages.front())) return std::nullopt;
  LeftOut left_out{form.stages.front(), {}};
  const core::Stage& stage = left_out.output;
  for (const core::Node& node : stage.nodes) {
    const auto* reduce = std::get_if<core::Reduce>(&node);
    if (reduce == nullptr) continue;
    const auto* product = std::get_if<core::Nary>(&stage.nodes[reduce->body]);
    if (reduce->op != core::ReduceOp::kSum || product == nullptr || product->op != core::ReduceOp::kProduct)
      return std::nullopt;
    for (const core::NodeId factor : product->args) {
      const auto* read = std::get_if<core::TensorRead>(&stage.nodes[factor]);
      const core::TensorArgument* tensor = read && !read->stage ? problem.form.FindTensor(read->tensor) : nullptr;
      if (tensor == nullptr || !core::IsFloat(tensor->dtype)) return std::nullopt;
      const bool ends = std::any_of(reduce->guards.begin(), reduce->guards.end(), [&](const core::Guard& guard) {
        return std::find(read->at.begin(), read->at.end(), core::Coordinate(guard.value)) != read->at.end();
      });
      if (!ends) left_out.weights.insert(read->tensor);
    }
  }
  return left_out;
}

// As if all terms beyond the bounds of sums were 0 times the others.
Problem WithZerosOutside(Problem problem) {
  for (core::Stage& stage : problem.form.stages)
    for (core::Node& node : stage.nodes)
      if (auto* reduce = std::get_if<core::Reduce>(&node))
        for (core::Guard& guard : reduce->guards) guard.outside = core::Guard::Outside::kZero;
  return problem;
}

}  // namespace

std::optional<ZeroFilledPlan> PlanWithZeros(const Problem& problem, const Group& group, const WindowChoice& choice) {
  auto left_out = LeftOutOf(problem, group);
  if (!left_out || left_out->weights.empty()) return std::nullopt;
  WindowPlanOutcome outcome = PlanWindows(WithZerosOutside(problem), group, choice);
  auto* plan = std::get_if<WindowPlan>(&outcome);
  if (plan == nullptr || plan->outputs.size() != 1) return std::nullopt;
  const WindowOutput& output = plan->outputs.front();
  if (output.edge != Edge::kZero || !output.borders.empty() || !output.inside.where.empty()) return std::nullopt;
  // Weights are the same for all of a thread's outputs.
  core::VariableSet moved = core::SetOf(plan->col) | (plan->row ? core::SetOf(*plan->row) : 0);
  for (const core::Node& node : output.inside.stage.nodes)
    if (const auto* read = std::get_if<core::TensorRead>(&node); read && left_out->weights.contains(read->tensor))
      for (const core::Coordinate& at : read->at) {
        const auto* position = std::get_if<core::Affine>(&at);
        if (position == nullptr || (core::VariablesOf(*position) & moved) != 0) return std::nullopt;
      }
  return ZeroFilledPlan{std::move(*plan), std::move(*left_out)};
}

}  // namespace warpwright::schedule
