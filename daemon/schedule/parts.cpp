#include "schedule/parts.h"

#include "core/affine.h"
#include "core/polynomial.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;
using Replacements = std::map<core::VariableId, core::Affine>;

// The variable that the coordinate `at` is made of, in terms of that coordinate: (coordinate - constant) / coefficient.
std::optional<core::Affine> Inverse(const core::Affine& at, core::VariableId coordinate) {
  const core::Affine::Term& term = at.terms[0];
  if (term.part != core::Affine::Part::kWhole || !core::IsNumber(at.divisor, 1)) return std::nullopt;
  const Polynomial coefficient = Polynomial::Of(term.coefficient);
  const bool minus = coefficient == Polynomial(-1);
  const auto number = coefficient.constant();
  if (!minus && number && *number <= 0) return std::nullopt;  // a name is taken for positive
  const Polynomial constant = Polynomial::Of(at.constant);
  const auto shift = (minus ? constant : Polynomial() - constant).ToExpression();
  if (!shift) return std::nullopt;
  core::Affine inverse = core::AffineOf(coordinate);
  if (minus) inverse.terms[0].coefficient = core::Size::Constant(-1);
  else inverse.divisor = term.coefficient;
  inverse.constant = *shift;
  return inverse;
}

bool Substitute(core::Affine& position, const Replacements& replacements) {
  auto substituted = core::Substituted(position, replacements);
  if (substituted) substituted = core::Simplified(*substituted);
  if (substituted) position = std::move(*substituted);
  return substituted.has_value();
}

bool Substitute(core::Stage& stage, const Replacements& replacements) {
  bool all = true;
  for (auto& node : stage.nodes) {
    core::ForEachPosition(node, [&](core::Affine& position) { all &= Substitute(position, replacements); });
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) variable.id = replacements.at(variable.id).terms[0].variable;
  }
  for (auto& guard : stage.domain) all &= Substitute(guard.value, replacements);
  return all;
}

}  // namespace

std::optional<BufferPart> OverBuffer(const Problem& problem, const core::Stage& stage) {
  const std::vector<core::Size>& shape = ShapeOf(problem, stage.name);
  const std::vector<core::Affine> at = StoredAt(stage);
  if (at.size() != shape.size()) return std::nullopt;
  BufferPart part{stage, {}};
  Replacements replacements;
  for (core::VariableId d = 0; d < at.size(); ++d) {
    if (at[d].terms.empty()) {
      const auto next = (Polynomial::Of(at[d].constant) + Polynomial(1)).ToExpression();
      if (!next) return std::nullopt;
      if (core::IsNumber(shape[d], 1)) continue;
      part.where.push_back({core::AffineOf(d), at[d].constant, next});
      continue;
    }
    if (at[d].terms.size() != 1) return std::nullopt;
    const core::VariableId variable = at[d].terms[0].variable;
    const auto inverse = Inverse(at[d], d);
    if (!inverse || replacements.contains(variable)) return std::nullopt;
    const bool whole = core::AsVariable(*inverse) && Equal(stage.extents[variable], shape[d]);
    if (!whole) part.where.push_back({*inverse, core::Size::Constant(0), stage.extents[variable]});
    replacements[variable] = *inverse;
  }
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) {
    if (replacements.contains(v)) continue;
    if (!core::IsNumber(stage.extents[v], 1)) return std::nullopt;
    replacements[v] = core::AffineOf(core::Size::Constant(0));
  }
  // Variables of reductions move out of the way of the coordinates.
  auto fresh = static_cast<core::VariableId>(shape.size());
  for (const auto& node : stage.nodes)
    if (const auto* reduce = std::get_if<core::Reduce>(&node))
      for (const auto& variable : reduce->variables) replacements[variable.id] = core::AffineOf(fresh++);
  if (!Substitute(part.stage, replacements)) return std::nullopt;
  part.where.insert(part.where.end(), part.stage.domain.begin(), part.stage.domain.end());
  part.stage.domain.clear();
  part.stage.at.clear();
  part.stage.extents = shape;
  return part;
}

}  // namespace warpwright::schedule
