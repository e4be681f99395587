#include "schedule/short_terms.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Polynomial;
using core::VariableId;

constexpr int64_t kFew = 64;

// The variable that the guarded position gives, if it is there once and as it is, or subtracted.
struct Inverse {
  VariableId variable = 0;
  Affine value;      // of the variable, in terms of the position, which then has its number
  core::Size count;  // that the position is less than
};

std::optional<Inverse> InverseOf(const core::Guard& guard, const core::Reduce::Variable& variable) {
  const auto count = guard.high ? Polynomial::Of(*guard.high).constant() : std::nullopt;
  const auto divisor = Polynomial::Of(guard.value.divisor).constant();
  const bool from_zero = guard.low && Polynomial::Of(*guard.low) == Polynomial(0);
  const auto extent = Polynomial::Of(variable.extent).constant();
  if (!count || !divisor || !from_zero || *count < 1 || *count > kFew || (extent && *extent <= *count))
    return std::nullopt;
  std::optional<int64_t> sign;
  Inverse inverse{.variable = variable.id, .value = {}, .count = *guard.high};
  for (const Affine::Term& term : guard.value.terms) {
    if (term.variable != variable.id) continue;
    const auto coefficient = Polynomial::Of(term.coefficient).constant();
    if (sign || term.part != Affine::Part::kWhole || !coefficient || (*coefficient != 1 && *coefficient != -1))
      return std::nullopt;
    sign = coefficient;
  }
  if (!sign) return std::nullopt;
  // position * divisor = rest + sign * variable
  const auto scaled = [&](const core::Size& size, int64_t by) {
    return (Polynomial::Of(size) * Polynomial(by)).ToExpression();
  };
  const auto constant = scaled(guard.value.constant, -*sign);
  if (!constant) return std::nullopt;
  inverse.value.constant = *constant;
  for (Affine::Term term : guard.value.terms) {
    const auto coefficient =
        term.variable == variable.id ? core::Size::Constant(*sign * *divisor) : scaled(term.coefficient, -*sign);
    if (!coefficient) return std::nullopt;
    term.coefficient = *coefficient;
    inverse.value.terms.push_back(std::move(term));
  }
  return inverse;
}

// The stage with the position in the variable's place; none: it is used where that cannot be written.
std::optional<core::Stage> WithPosition(core::Stage stage, core::NodeId root, size_t guard, const Inverse& inverse) {
  auto& reduce = std::get<core::Reduce>(stage.nodes[root]);
  const Affine position = reduce.guards[guard].value;
  const std::map<VariableId, Affine> replacements = {{inverse.variable, inverse.value}};
  bool expressed = true;
  const auto replace = [&](Affine& at) {
    if (at == position) {
      at = core::AffineOf(inverse.variable);
      return;
    }
    if ((core::VariablesOf(at) & core::SetOf(inverse.variable)) == 0) return;
    auto replaced = core::Substituted(at, replacements);
    if (replaced) replaced = core::Simplified(*replaced);
    expressed = expressed && replaced.has_value();
    if (replaced) at = std::move(*replaced);
  };
  for (core::Node& node : stage.nodes) core::ForEachPosition(node, replace);
  const auto variable = std::find_if(reduce.variables.begin(), reduce.variables.end(),
                                     [&](const auto& v) { return v.id == inverse.variable; });
  reduce.guards[guard] = {inverse.value, core::Size::Constant(0), variable->extent};
  variable->extent = inverse.count;
  if (!expressed) return std::nullopt;
  return stage;
}

std::optional<core::Stage> Shortened(const core::Stage& stage) {
  for (core::NodeId id = 0; id < stage.nodes.size(); ++id) {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes[id]);
    if (reduce == nullptr || core::IsArg(reduce->op)) continue;
    for (const core::Reduce::Variable& variable : reduce->variables)
      for (size_t g = 0; g < reduce->guards.size(); ++g)
        if (const auto inverse = InverseOf(reduce->guards[g], variable))
          if (auto shortened = WithPosition(stage, id, g, *inverse)) return shortened;
  }
  return std::nullopt;
}

}  // namespace

core::Computation WithShortTerms(core::Computation computation) {
  for (core::Stage& stage : computation.stages)
    while (auto shortened = Shortened(stage)) stage = std::move(*shortened);
  return computation;
}

}  // namespace warpwright::schedule
