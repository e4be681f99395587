#include "schedule/nested_sums.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::NodeId;
using core::Stage;
using core::VariableId;

// Finds the inner stage's term in the outer one's: which positions its variables have there.
class Match {
 public:
  Match(const Stage& inner, const Stage& outer) : inner_(inner), outer_(outer) {}

  // Positions of the inner stage's index variables, if its terms are the outer one's.
  std::optional<std::map<VariableId, Affine>> Find() {
    const core::Reduce &few = *RootSumOf(inner_), &many = *RootSumOf(outer_);
    if (few.variables.size() >= many.variables.size() || !few.guards.empty() || !many.guards.empty())
      return std::nullopt;
    if (!inner_.domain.empty() || !Same(few.body, many.body) || !ReadsAgree()) return std::nullopt;
    // Each term of the inner sum by a variable of the outer one, with the same extent, which nothing else uses.
    for (const auto& variable : few.variables) {
      const auto found = places_.find(variable.id);
      const auto own = found == places_.end() ? std::nullopt : core::AsVariable(found->second);
      const auto outer = std::find_if(many.variables.begin(), many.variables.end(),
                                      [&](const auto& v) { return own && v.id == *own; });
      if (outer == many.variables.end() || core::Polynomial::Of(outer->extent) != core::Polynomial::Of(variable.extent))
        return std::nullopt;
      used_ |= core::SetOf(outer->id);
    }
    std::map<VariableId, Affine> positions;
    for (VariableId v = 0; v < inner_.extents.size(); ++v) {
      const auto found = places_.find(v);
      if (found == places_.end() || (core::VariablesOf(found->second) & used_) != 0) return std::nullopt;
      positions[v] = found->second;
    }
    return positions;
  }
  core::VariableSet used() const { return used_; }  // variables of the outer sum that are the inner one's

 private:
  bool Same(NodeId inner, NodeId outer) {
    const core::Node &a = inner_.nodes[inner], &b = outer_.nodes[outer];
    if (a.index() != b.index()) return false;
    if (const auto* read = std::get_if<core::TensorRead>(&a)) return SameRead(*read, std::get<core::TensorRead>(b));
    if (std::holds_alternative<core::IndexValue>(a)) return false;
    core::Node same = b;
    std::vector<NodeId> of_inner, of_outer;
    core::ForEachArgument(a, [&](NodeId id) { of_inner.push_back(id); });
    core::ForEachArgument(b, [&](NodeId id) { of_outer.push_back(id); });
    if (of_inner.size() != of_outer.size()) return false;
    size_t next = 0;
    core::ForEachArgument(same, [&](NodeId& id) { id = of_inner[next++]; });
    if (!(same == a)) return false;
    for (size_t i = 0; i < of_inner.size(); ++i)
      if (!Same(of_inner[i], of_outer[i])) return false;
    return true;
  }
  bool SameRead(const core::TensorRead& inner, const core::TensorRead& outer) {
    if (inner.tensor != outer.tensor || inner.stage != outer.stage || inner.at.size() != outer.at.size()) return false;
    for (size_t d = 0; d < inner.at.size(); ++d) {
      const auto *a = std::get_if<Affine>(&inner.at[d]), *b = std::get_if<Affine>(&outer.at[d]);
      if (!a || !b) return false;
      if (const auto variable = core::AsVariable(*a)) {
        const auto [known, added] = places_.try_emplace(*variable, *b);
        if (!added && !(known->second == *b)) return false;
      } else {
        others_.emplace_back(*a, *b);
      }
    }
    return true;
  }
  // Positions of several variables, once each variable's place is known.
  bool ReadsAgree() const {
    return std::all_of(others_.begin(), others_.end(), [&](const auto& pair) {
      for (const Affine::Term& term : pair.first.terms)
        if (!places_.contains(term.variable)) return false;
      const auto there = core::Substituted(pair.first, places_), own = core::Simplified(pair.second);
      return there && own && *there == *own;
    });
  }

  const Stage &inner_, &outer_;
  std::map<VariableId, Affine> places_;
  std::vector<std::pair<Affine, Affine>> others_;
  core::VariableSet used_ = 0;
};

std::optional<Stage> SumOfSums(const Stage& inner, const Stage& outer) {
  Match match(inner, outer);
  const auto positions = match.Find();
  if (!positions) return std::nullopt;
  Stage result = outer;
  core::TensorRead read{inner.name, true, {}};
  for (const auto& [variable, position] : *positions) read.at.emplace_back(position);
  core::Reduce sum = *RootSumOf(outer);
  std::erase_if(sum.variables, [&](const auto& v) { return (core::SetOf(v.id) & match.used()) != 0; });
  // Numbered on from the index variables, without gaps.
  std::map<VariableId, Affine> renumbered;
  for (size_t i = 0; i < sum.variables.size(); ++i) {
    const auto id = static_cast<VariableId>(outer.extents.size() + i);
    renumbered[sum.variables[i].id] = core::AffineOf(id);
    sum.variables[i].id = id;
  }
  for (core::Coordinate& at : read.at) {
    const auto position = core::Substituted(std::get<Affine>(at), renumbered);
    if (!position) return std::nullopt;
    at = *position;
  }
  sum.body = 0;
  result.nodes = {std::move(read), std::move(sum)};
  return result;
}

void MoveBefore(std::vector<Stage>& stages, size_t from, size_t to) {
  const auto begin = stages.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
              begin + static_cast<std::ptrdiff_t>(from) + 1);
}
// Whether the inner stage needs nothing from the outer one on.
bool CanComeBefore(const std::vector<Stage>& stages, size_t inner, size_t outer) {
  for (size_t i = outer; i < inner; ++i)
    if (ReadsTensor(stages[inner], stages[i].name, true)) return false;
  return true;
}

}  // namespace

core::Computation WithNestedSums(core::Computation computation) {
  auto& stages = computation.stages;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (RootSumOf(stages[i]) == nullptr) continue;
    for (size_t j = 0; j < stages.size(); ++j) {
      if (j == i || stages[j].output || RootSumOf(stages[j]) == nullptr) continue;
      if (j > i && !CanComeBefore(stages, j, i)) continue;
      if (auto nested = SumOfSums(stages[j], stages[i])) {
        stages[i] = std::move(*nested);
        if (j > i) MoveBefore(stages, j, i);
        break;
      }
    }
  }
  return computation;
}

}  // namespace warpwright::schedule
