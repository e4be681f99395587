#include "schedule/attention_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Stage;
using core::VariableId;

const core::Reduce* RootOf(const Stage& stage) { return std::get_if<core::Reduce>(&stage.nodes.back()); }

class AttentionPlanner {
 public:
  AttentionPlanner(const Problem& problem, const Group& group) : problem_(problem), group_(group) {}

  AttentionPlanOutcome Plan() {
    const bool planned = FindStages() && FindProduct() && Name(plan_.largest, plan_.scores, true) &&
                         Name(plan_.total, plan_.scores, true) && Name(plan_.sums, plan_.scores, true) &&
                         NameOutputs() && ReadsAgree() && SplitSums();
    if (!planned) return Refuse(why_);
    return std::move(plan_);
  }

 private:
  bool No(std::string why) {
    why_ = std::move(why);
    return false;
  }
  const Stage& stage(size_t i) const { return problem_.stage(i); }
  bool ReadsStage(size_t reader, size_t of) const { return ReadsTensor(stage(reader), stage(of).name, true); }

  bool FindStages() {
    std::vector<size_t> sums;
    std::optional<size_t> largest;
    for (const size_t i : group_.stages) {
      if (stage(i).output) plan_.outputs.push_back(i);
      if (!core::HasReduction(stage(i))) {
        if (!stage(i).output) return No("an intermediate is no reduction");
        continue;
      }
      const core::Reduce* reduce = RootOf(stage(i));
      if (stage(i).output || reduce == nullptr) return No("an output reduces by itself");
      if (reduce->op == core::ReduceOp::kSum) sums.push_back(i);
      else if (reduce->op == core::ReduceOp::kMax && !largest) largest = i;
      else return No("a reduction that is no sum");
    }
    if (sums.size() != 3 || !largest) return No("there are no scores, weights and weighted sums");
    plan_.largest = *largest, plan_.scores = sums[0], plan_.total = sums[1], plan_.sums = sums[2];
    // A weighted sum has one variable more.
    if (stage(plan_.total).extents.size() > stage(plan_.sums).extents.size()) std::swap(plan_.total, plan_.sums);
    const bool chained = ReadsStage(plan_.largest, plan_.scores) && ReadsStage(plan_.total, plan_.largest) &&
                         ReadsStage(plan_.sums, plan_.largest);
    return chained || No("weights are not made of scores and the largest of them");
  }

  bool FindProduct() {
    const Stage &scores = stage(plan_.scores), &largest = stage(plan_.largest);
    const core::Reduce& over = *RootOf(largest);
    if (over.variables.size() != 1) return No("a row has several directions");
    std::optional<VariableId> column;
    for (const core::Node& node : largest.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (!read || !read->stage || read->tensor != scores.name) continue;
      for (VariableId d = 0; d < read->at.size(); ++d) {
        const auto* position = std::get_if<core::Affine>(&read->at[d]);
        if (position && core::AsVariable(*position) == over.variables.front().id) column = d;
      }
    }
    if (!column || !Equal(scores.extents[*column], over.variables.front().extent)) return No("a row is not all scores");
    auto product = ContractionOf(problem_.form, scores, std::array{*column});
    if (!product) return No(product.error().message);
    plan_.product = std::move(*product);
    KeepLongestRow();
    const Contraction& found = plan_.product;
    if (found.m.size() != 1 || found.n.size() != 1 || found.k.size() != 1) return No("scores have more than two axes");
    if (!found.guards.empty() || found.n[0].variable != *column) return No("scores are more than products");
    const auto free = core::FreeVariables(scores);
    for (const NodeId id : found.scale) {
      if (free[id] != 0) return No("scores are more than products");
      plan_.score_scale.push_back(id);
    }
    for (const Factor* factor : {&found.left, &found.right})
      if (!factor->conditions.empty() || !factor->guards.empty()) return No("scores are more than products");
    AttentionVariables& variables = plan_.variables[plan_.scores];
    for (size_t b = 0; b < found.batch.size(); ++b) variables[found.batch[b].variable] = {AttentionRole::kBatch, b};
    variables[found.m[0].variable] = {AttentionRole::kRow, 0};
    variables[found.n[0].variable] = {AttentionRole::kColumn, 0};
    variables[found.k[0].variable] = {AttentionRole::kDepth, 0};
    return true;
  }

  // Queries that differ in several directions, positions and heads that share their keys, are rows in the longest.
  void KeepLongestRow() {
    std::vector<Axis>& m = plan_.product.m;
    const auto length = [&](const Axis& axis) { return ValueIn(axis.extent, HeaviestCase(problem_)).value_or(0); };
    const auto longest =
        std::max_element(m.begin(), m.end(), [&](const Axis& a, const Axis& b) { return length(a) < length(b); });
    if (longest == m.end()) return;
    Axis row = std::move(*longest);
    m.erase(longest);
    plan_.product.batch.insert(plan_.product.batch.end(), m.begin(), m.end());
    m = {std::move(row)};
  }

  // The variables of a stage by where it reads another one; its one other variable, if it has one, is that of results.
  bool Name(size_t reader, size_t of, bool reduces) {
    AttentionVariables& variables = plan_.variables[reader];
    const AttentionVariables& known = plan_.variables[of];
    for (const core::Node& node : stage(reader).nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (!read || !read->stage || read->tensor != stage(of).name) continue;
      for (VariableId d = 0; d < read->at.size(); ++d) {
        const auto* position = std::get_if<core::Affine>(&read->at[d]);
        const auto variable = position ? core::AsVariable(*position) : std::nullopt;
        if (!variable) return No("results are read at other places");
        const auto [named, added] = variables.try_emplace(*variable, known.at(d));
        if (!added && !(named->second == known.at(d))) return No("results are read at other places");
      }
    }
    const Stage& own = stage(reader);
    for (VariableId v = 0; v < own.extents.size(); ++v) {
      if (variables.contains(v)) continue;
      if (reader != plan_.sums || !core::IsNumber(plan_.col_extent, 0))
        return No("results differ in another direction");
      variables[v] = {AttentionRole::kCol, 0};
      plan_.col_extent = own.extents[v];
    }
    if (!reduces) return true;
    const core::Reduce* reduce = RootOf(own);
    const bool column = reduce != nullptr && reduce->variables.size() == 1 &&
                        variables.contains(reduce->variables[0].id) &&
                        variables.at(reduce->variables[0].id).role == AttentionRole::kColumn;
    return column || No("a row is not all scores");
  }

  bool NameOutputs() {
    if (core::IsNumber(plan_.col_extent, 0)) return No("nothing is weighted");
    for (const size_t output : plan_.outputs) {
      if (!ReadsStage(output, plan_.sums)) return No("an output has no weighted sums");
      if (!Name(output, plan_.sums, false)) return false;
      for (const size_t written : plan_.outputs)
        for (const size_t reader : group_.stages)
          if (ReadsTensor(stage(reader), stage(written).name, false))
            return No(stage(written).name + " is changed in place");
    }
    return !plan_.outputs.empty() || No("nothing is written");
  }

  // Every other read of a stage is at its own row.
  bool ReadsAgree() {
    for (const auto& [reader, variables] : plan_.variables) {
      for (const core::Node& node : stage(reader).nodes) {
        const auto* read = std::get_if<core::TensorRead>(&node);
        if (!read || !read->stage) continue;
        const auto of = std::find_if(plan_.variables.begin(), plan_.variables.end(),
                                     [&](const auto& other) { return stage(other.first).name == read->tensor; });
        if (of == plan_.variables.end()) return No("results are read at other places");
        for (VariableId d = 0; d < read->at.size(); ++d) {
          const auto* position = std::get_if<core::Affine>(&read->at[d]);
          const auto variable = position ? core::AsVariable(*position) : std::nullopt;
          if (!variable || !variables.contains(*variable) || !(variables.at(*variable) == of->second.at(d)))
            return No("results are read at other places");
        }
      }
    }
    return true;
  }

  // exp(... - largest): a weight shrinks by exp(old - new) when a larger score comes.
  bool IsWeight(const Stage& of, NodeId id) const {
    const auto* call = std::get_if<core::Call>(&of.nodes[id]);
    if (call == nullptr || call->function != core::Function::kExp) return false;
    const auto* sum = std::get_if<core::Nary>(&of.nodes[call->args[0]]);
    if (sum == nullptr || sum->op != core::ReduceOp::kSum) return false;
    int subtracted = 0;
    for (const NodeId arg : sum->args) {
      if (IsNegatedLargest(of, arg)) ++subtracted;
      else if (DependsOnLargest(of, arg)) return false;
    }
    return subtracted == 1;
  }
  bool IsLargest(const core::Node& node) const {
    const auto* read = std::get_if<core::TensorRead>(&node);
    return read && read->stage && read->tensor == stage(plan_.largest).name;
  }
  bool IsNegatedLargest(const Stage& of, NodeId id) const {
    const auto* product = std::get_if<core::Nary>(&of.nodes[id]);
    if (product == nullptr || product->op != core::ReduceOp::kProduct || product->args.size() != 2) return false;
    for (const size_t other : {0, 1}) {
      const auto* constant = std::get_if<core::Constant>(&of.nodes[product->args[1 - other]]);
      if (constant != nullptr && constant->value == -1 && IsLargest(of.nodes[product->args[other]])) return true;
    }
    return false;
  }
  bool DependsOnLargest(const Stage& of, NodeId id) const {
    bool depends = IsLargest(of.nodes[id]);
    core::ForEachArgument(of.nodes[id], [&](NodeId arg) { depends = depends || DependsOnLargest(of, arg); });
    return depends;
  }

  bool SplitSums() {
    const Stage &sums = stage(plan_.sums), &total = stage(plan_.total);
    const core::Reduce& over = *RootOf(sums);
    if (!IsWeight(total, RootOf(total)->body)) return No("the weights are no exponentials");
    const auto* product = std::get_if<core::Nary>(&sums.nodes[over.body]);
    if (product == nullptr || product->op != core::ReduceOp::kProduct) return No("nothing is weighted");
    const auto free = core::FreeVariables(sums);
    int weights = 0;
    for (const NodeId id : product->args) {
      if (IsWeight(sums, id)) plan_.weight = id, ++weights;
      else if (DependsOnLargest(sums, id)) return No("weights are more than exponentials");
      else if ((free[id] & core::SetOf(over.variables[0].id)) != 0) plan_.value.push_back(id);
      else plan_.scale.push_back(id);
    }
    if (weights != 1 || plan_.value.empty()) return No("nothing is weighted");
    for (const NodeId id : plan_.value)
      for (const auto& [variable, place] : plan_.variables.at(plan_.sums))
        if (place.role == AttentionRole::kRow && (free[id] & core::SetOf(variable)) != 0)
          return No("what is weighted differs from row to row");
    return true;
  }

  const Problem& problem_;
  const Group& group_;
  AttentionPlan plan_;
  std::string why_;
};

}  // namespace

AttentionPlanOutcome PlanAttention(const Problem& problem, const Group& group) {
  return AttentionPlanner(problem, group).Plan();
}

}  // namespace warpwright::schedule
