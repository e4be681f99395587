#include "lift/window_sums.h"

#include <algorithm>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::lift {
namespace {

using core::Affine;
using core::Polynomial;
using core::Reduce;
using core::Stage;

// The variable whose value at `window` is w, by w: the same number now stands for w. nullopt: there are several.
std::optional<Affine> SolvedFor(core::VariableId variable, const Affine& window) {
  Affine solved;
  std::optional<Polynomial> coefficient;
  for (const Affine::Term& term : window.terms) {
    if (term.variable != variable) continue;
    if (coefficient || term.part != Affine::Part::kWhole) return std::nullopt;
    coefficient = Polynomial::Of(term.coefficient);
  }
  if (!coefficient || !coefficient->valid() || coefficient->terms().empty()) return std::nullopt;
  const auto& monomials = coefficient->terms();
  const bool negative = monomials.begin()->second < 0;
  if (std::any_of(monomials.begin(), monomials.end(), [&](const auto& m) { return (m.second < 0) != negative; }))
    return std::nullopt;  // nobody knows its sign
  const Polynomial sign(negative ? -1 : 1);
  const auto signed_size = [&](const core::Size& size, bool minus) {
    return (sign * (minus ? Polynomial() - Polynomial::Of(size) : Polynomial::Of(size))).ToExpression();
  };
  const auto constant = signed_size(window.constant, true), own = signed_size(window.divisor, false);
  const auto divisor = (sign * *coefficient).ToExpression();
  if (!constant || !own || !divisor) return std::nullopt;
  solved.constant = *constant, solved.divisor = *divisor;
  for (Affine::Term term : window.terms) {
    const auto size = term.variable == variable ? own : signed_size(term.coefficient, true);
    if (!size) return std::nullopt;
    term.coefficient = *size;
    solved.terms.push_back(std::move(term));
  }
  return core::Simplified(solved);
}

// How many there are, over all sizes; nullopt: it cannot be said.
std::optional<int64_t> CountOf(const core::Size& extent, const std::vector<core::SizeValues>& sizes) {
  int64_t count = 0;
  for (const core::SizeValues& at : sizes) {
    const auto value = extent.Evaluate(at);
    if (!value) return std::nullopt;
    count += *value;
  }
  return count;
}

// The stage with the sum at `id` over the window of one of its guards.
std::optional<Stage> OverWindow(const Stage& stage, core::NodeId id, size_t variable, size_t window) {
  const auto& reduce = std::get<Reduce>(stage.nodes[id]);
  const core::VariableId v = reduce.variables[variable].id;
  const auto solved = SolvedFor(v, reduce.guards[window].value);
  if (!solved) return std::nullopt;
  Stage over = stage;
  bool all = true;
  const auto replace = [&](Affine& position) {
    if ((core::VariablesOf(position) & core::SetOf(v)) == 0) return;
    auto replaced = core::Substituted(position, {{v, *solved}});
    all = all && replaced.has_value();
    if (replaced) position = std::move(*replaced);
  };
  for (core::Node& node : over.nodes) core::ForEachPosition(node, replace);
  auto& sum = std::get<Reduce>(over.nodes[id]);
  for (size_t g = 0; g < sum.guards.size(); ++g)
    if (g != window) replace(sum.guards[g].value);
  sum.guards[window] = {.value = *solved, .low = core::Size::Constant(0), .high = sum.variables[variable].extent};
  sum.variables[variable].extent = *reduce.guards[window].high;
  return all ? std::optional(std::move(over)) : std::nullopt;
}

bool IsShorter(const core::Size& window, const core::Size& extent, const std::vector<core::SizeValues>& sizes) {
  const auto shorter = CountOf(window, sizes), longer = CountOf(extent, sizes);
  return shorter && longer && *shorter < *longer;
}

// The first sum of the stage that is shorter over a window.
std::optional<Stage> Shortened(const Stage& stage, const std::vector<core::SizeValues>& sizes) {
  for (core::NodeId id = 0; id < stage.nodes.size(); ++id) {
    const auto* reduce = std::get_if<Reduce>(&stage.nodes[id]);
    if (reduce == nullptr || core::IsArg(reduce->op)) continue;
    for (size_t g = 0; g < reduce->guards.size(); ++g) {
      const core::Guard& guard = reduce->guards[g];
      if (!guard.low || !core::IsNumber(*guard.low, 0) || !guard.high) continue;
      for (size_t v = 0; v < reduce->variables.size(); ++v)
        if (IsShorter(*guard.high, reduce->variables[v].extent, sizes))
          if (auto over = OverWindow(stage, id, v, g)) return over;
    }
  }
  return std::nullopt;
}

}  // namespace

core::Computation WithSumsOverWindows(core::Computation computation, const std::vector<core::SizeValues>& sizes) {
  constexpr int kMost = 8;  // of a stage: each is shorter than the one before
  for (Stage& stage : computation.stages)
    for (int i = 0; i < kMost; ++i) {
      auto over = Shortened(stage, sizes);
      if (!over) break;
      stage = std::move(*over);
    }
  return computation;
}

}  // namespace warpwright::lift
