#include "schedule/scan_plan.h"

#include <algorithm>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;

constexpr int64_t kLongestAxis = int64_t{1} << 30;  // with room for a block beyond the end

// Whether a term at the last position of the axis can be read too, although no result needs it.
bool IsThereAtTheEnd(const Problem& problem, const core::Stage& stage, const core::Reduce& reduce,
                     const Polynomial& count) {
  const core::VariableId term = reduce.variables[0].id;
  for (core::NodeId id = 0; id < reduce.body + 1; ++id) {
    const auto* read = std::get_if<core::TensorRead>(&stage.nodes[id]);
    if (read == nullptr) continue;
    const std::vector<core::Size>& shape = ShapeOf(problem, read->tensor);
    for (size_t d = 0; d < read->at.size(); ++d) {
      const auto* position = std::get_if<core::Affine>(&read->at[d]);
      if (position == nullptr) return false;
      if ((core::VariablesOf(*position) & core::SetOf(term)) == 0) continue;
      const bool plain = position->terms.size() == 1 && core::IsNumber(position->divisor, 1) &&
                         position->terms[0].part == core::Affine::Part::kWhole &&
                         core::IsNumber(position->terms[0].coefficient, 1);
      if (!plain || d >= shape.size()) return false;
      const auto room = (Polynomial::Of(shape[d]) - Polynomial::Of(position->constant) - count).constant();
      if (!room || *room < 0) return false;
    }
  }
  return true;
}

std::optional<Prefix> PrefixOf(const Problem& problem, const core::Stage& stage, const core::Reduce& reduce) {
  if (reduce.variables.size() != 1 || reduce.guards.size() != 1) return std::nullopt;
  const core::Guard& guard = reduce.guards[0];
  const core::Affine& value = guard.value;
  if (!core::IsNumber(value.divisor, 1) || value.terms.size() != 2 || guard.low.has_value() == guard.high.has_value())
    return std::nullopt;
  Prefix prefix{.term = reduce.variables[0].id};
  bool term_rises = false, axis_rises = false, has_term = false;
  for (const auto& term : value.terms) {
    const bool rises = core::IsNumber(term.coefficient, 1);
    if (term.part != core::Affine::Part::kWhole || (!rises && !core::IsNumber(term.coefficient, -1)))
      return std::nullopt;
    if (term.variable == prefix.term) has_term = true, term_rises = rises;
    else prefix.axis = term.variable, axis_rises = rises;
  }
  if (!has_term || term_rises == axis_rises || prefix.axis >= stage.extents.size()) return std::nullopt;
  const Polynomial one(1), count = Polynomial::Of(stage.extents[prefix.axis]);
  const Polynomial left_out = count - Polynomial::Of(reduce.variables[0].extent);
  if (left_out != Polynomial() && left_out != one) return std::nullopt;
  // How far the term may be ahead of the element, or must be at least.
  const Polynomial constant = Polynomial::Of(value.constant);
  const Polynomial bound = Polynomial::Of(guard.low ? *guard.low : *guard.high);
  prefix.backwards = term_rises == guard.low.has_value();
  Polynomial ahead = term_rises ? bound - constant : constant - bound;
  if (guard.high) ahead = term_rises ? ahead - one : ahead + one;
  prefix.exclusive = ahead != Polynomial();
  if (prefix.exclusive && ahead != (prefix.backwards ? one : Polynomial(-1))) return std::nullopt;
  // Nobody has the last term of an exclusive scan: that it is not among them, as people write it, says nothing.
  const bool whole = left_out == Polynomial() ||
                     (prefix.exclusive && !prefix.backwards && IsThereAtTheEnd(problem, stage, reduce, count));
  return whole ? std::optional(prefix) : std::nullopt;
}

bool SameElement(const FlatOffset& a, const FlatOffset& b) {
  return Equal(a.constant, b.constant) &&
         std::equal(a.coefficients.begin(), a.coefficients.end(), b.coefficients.begin(), b.coefficients.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && Equal(x.second, y.second); });
}

// Whether all reads of the tensor are of the element that is stored at the same place of the scan.
bool ReadsOnlyItself(const Problem& problem, const core::Stage& stage, const VariableMap& variables,
                     const std::string& tensor, const std::optional<FlatOffset>& stored) {
  return std::all_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    if (read == nullptr || read->stage || read->tensor != tensor) return true;
    const auto own = FlatOffsetOf(ShapeOf(problem, tensor), read->at);
    if (!own || !stored) return false;
    FlatOffset offset{.coefficients = {}, .constant = own->constant};
    for (const auto& [variable, coefficient] : own->coefficients) {
      const auto found = variables.find(variable);
      offset.coefficients[found == variables.end() ? variable : found->second] = coefficient;
    }
    return SameElement(offset, *stored);
  });
}

}  // namespace

ScanPlanOutcome PlanScan(const Problem& problem, const Group& group) {
  auto reduced = ReducedGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&reduced)) return *refusal;
  ScanPlan plan;
  plan.group = std::move(std::get<ReducedGroup>(reduced));
  const core::Stage& stage = problem.stage(plan.group.stage);
  const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
  if (reduce == nullptr || core::IsArg(reduce->op)) return Refuse("no running sum or extremum");
  const auto prefix = PrefixOf(problem, stage, *reduce);
  if (!prefix) return Refuse("the terms of a result are not those up to its own position");
  if ((core::FreeVariables(stage)[reduce->body] & core::SetOf(prefix->axis)) != 0)
    return Refuse("the terms differ from one result to the next");
  if (!stage.domain.empty()) return Refuse("the scan is of a part of a box");
  plan.reduce = *reduce;
  plan.prefix = *prefix;
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) {
    if (v == prefix->axis) plan.axis = {v, stage.extents[v]};
    else plan.rows.push_back({v, stage.extents[v]});
  }
  if (LargestOf(problem, plan.axis.extent).value_or(kLongestAxis) >= kLongestAxis)
    return Refuse("the axis is too long");
  for (const StageReader& output : plan.group.outputs) {
    const std::string& name = problem.stage(output.stage).name;
    const auto stored = StoredOffset(problem, output);
    bool alone = ReadsOnlyItself(problem, stage, {{prefix->term, prefix->axis}}, name, stored);
    for (const StageReader& other : plan.group.outputs)
      alone = alone && (other.stage == plan.group.stage ||
                        ReadsOnlyItself(problem, problem.stage(other.stage), other.variables, name, stored));
    if (!alone) return Refuse(name + " is changed in place, and other elements are computed from it");
  }
  const auto stored = StoredOffset(problem, plan.group.outputs.front());
  const auto step = stored ? stored->coefficients.find(prefix->axis) : decltype(stored->coefficients.end()){};
  plan.along = !stored || step == stored->coefficients.end() || core::IsNumber(step->second, 1);
  if (!plan.along && plan.rows.empty()) return Refuse("neighbours of the scan are not neighbours in memory");
  return plan;
}

}  // namespace warpwright::schedule
