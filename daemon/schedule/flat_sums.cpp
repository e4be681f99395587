#include "schedule/flat_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Stage;
using core::VariableId;

// The sum that is all of a stage.
const core::Reduce* PlainSumOf(const Stage& stage) {
  const core::Reduce* reduce = RootSumOf(stage);
  if (reduce == nullptr || !reduce->guards.empty() || !stage.domain.empty() || !stage.at.empty()) return nullptr;
  for (size_t i = 0; i < reduce->variables.size(); ++i)
    if (reduce->variables[i].id != stage.extents.size() + i) return nullptr;
  const auto others = std::count_if(stage.nodes.begin(), stage.nodes.end(),
                                    [](const core::Node& node) { return std::holds_alternative<core::Reduce>(node); });
  return others == 1 ? reduce : nullptr;
}

bool SameExtents(const core::Reduce& a, const core::Reduce& b) {
  return std::equal(
      a.variables.begin(), a.variables.end(), b.variables.begin(), b.variables.end(),
      [](const auto& x, const auto& y) { return core::Polynomial::Of(x.extent) == core::Polynomial::Of(y.extent); });
}

// The sums that the terms of one stage's sum are made of.
class Flattening {
 public:
  Flattening(const std::vector<Stage>& stages, const Stage& outer) : stages_(stages), outer_(outer) {}

  bool Find() {
    sum_ = SumOf();
    if (sum_ == nullptr || !sum_->guards.empty()) return false;
    for (const auto& variable : sum_->variables) terms_ |= core::SetOf(variable.id);
    for (VariableId v = 0; v < outer_.extents.size(); ++v) terms_ |= core::SetOf(v);
    return Scales(sum_->body) && !inner_.empty();
  }
  const std::set<std::string>& inner() const { return inner_; }

  // The outer stage with the inner sums' variables as its own.
  Stage Flat() const {
    Stage flat = outer_;
    const core::Reduce& few = *PlainSumOf(*StageNamed(*inner_.begin()));
    const auto first = static_cast<VariableId>(outer_.extents.size() + sum_->variables.size());
    for (core::Node& node : flat.nodes) {
      if (auto* read = std::get_if<core::TensorRead>(&node); read && inner_.contains(read->tensor))
        for (size_t i = 0; i < few.variables.size(); ++i)
          read->at.emplace_back(core::AffineOf(static_cast<VariableId>(first + i)));
      auto* reduce = std::get_if<core::Reduce>(&node);
      for (size_t i = 0; reduce != nullptr && i < few.variables.size(); ++i)
        reduce->variables.push_back({static_cast<VariableId>(first + i), few.variables[i].extent});
    }
    return flat;
  }

 private:
  const Stage* StageNamed(const std::string& name) const {
    const auto found = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.name == name; });
    return found == stages_.end() ? nullptr : &*found;
  }
  // The only sum of the stage, with variables numbered on from the indices.
  const core::Reduce* SumOf() const {
    const core::Reduce* sum = nullptr;
    for (const core::Node& node : outer_.nodes) {
      const auto* reduce = std::get_if<core::Reduce>(&node);
      if (reduce == nullptr) continue;
      if (sum != nullptr || reduce->op != core::ReduceOp::kSum) return nullptr;
      sum = reduce;
    }
    for (size_t i = 0; sum != nullptr && i < sum->variables.size(); ++i)
      if (sum->variables[i].id != outer_.extents.size() + i) return nullptr;
    return sum;
  }
  bool HasInner(NodeId id) const {
    const auto* read = std::get_if<core::TensorRead>(&outer_.nodes[id]);
    if (read != nullptr && read->stage) return true;
    bool has = false;
    core::ForEachArgument(outer_.nodes[id], [&](NodeId arg) { has = has || HasInner(arg); });
    return has;
  }
  // Every term is one inner sum, times what has none.
  bool Scales(NodeId id) {
    const core::Node& node = outer_.nodes[id];
    if (const auto* read = std::get_if<core::TensorRead>(&node)) return read->stage && IsInner(*read);
    const auto* nary = std::get_if<core::Nary>(&node);
    if (nary == nullptr) return false;
    const auto scales = [&](NodeId arg) { return Scales(arg); };
    if (nary->op == core::ReduceOp::kSum) return std::all_of(nary->args.begin(), nary->args.end(), scales);
    if (nary->op != core::ReduceOp::kProduct) return false;
    const auto with_inner = std::count_if(nary->args.begin(), nary->args.end(), [&](NodeId a) { return HasInner(a); });
    return with_inner == 1 &&
           std::all_of(nary->args.begin(), nary->args.end(), [&](NodeId arg) { return !HasInner(arg) || Scales(arg); });
  }
  // One element for each of the outer stage's terms.
  bool IsInner(const core::TensorRead& read) {
    const Stage* stage = StageNamed(read.tensor);
    const core::Reduce* few = stage == nullptr || stage->output ? nullptr : PlainSumOf(*stage);
    if (few == nullptr) return false;
    core::VariableSet walked = 0;
    for (const core::Coordinate& at : read.at) {
      const auto* position = std::get_if<core::Affine>(&at);
      const auto variable = position ? core::AsVariable(*position) : std::nullopt;
      if (!variable) return false;
      walked |= core::SetOf(*variable);
    }
    if (walked != terms_ || (!inner_.empty() && !SameExtents(*few, *PlainSumOf(*StageNamed(*inner_.begin())))))
      return false;
    inner_.insert(read.tensor);
    return true;
  }

  const std::vector<Stage>& stages_;
  const Stage& outer_;
  const core::Reduce* sum_ = nullptr;
  core::VariableSet terms_ = 0;  // variables of the outer stage
  std::set<std::string> inner_;  // stages
};

// The terms of a sum, as elements.
Stage TermsOf(Stage stage) {
  const core::Reduce sum = *PlainSumOf(stage);
  for (const auto& variable : sum.variables) stage.extents.push_back(variable.extent);
  stage.nodes.resize(sum.body + 1);
  return stage;
}

bool ReadElsewhere(const std::vector<Stage>& stages, const Stage& reader, const std::string& name) {
  return std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    return &stage != &reader && std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      return read != nullptr && read->stage && read->tensor == name;
    });
  });
}

}  // namespace

core::Computation WithFlatSums(core::Computation computation) {
  auto& stages = computation.stages;
  for (size_t i = 0; i < stages.size(); ++i) {
    Flattening flattening(stages, stages[i]);
    if (!flattening.Find()) continue;
    const std::set<std::string> inner = flattening.inner();
    if (std::any_of(inner.begin(), inner.end(), [&](const auto& n) { return ReadElsewhere(stages, stages[i], n); }))
      continue;
    stages[i] = flattening.Flat();
    for (Stage& stage : stages)
      if (inner.contains(stage.name)) stage = TermsOf(std::move(stage));
  }
  return computation;
}

}  // namespace warpwright::schedule
