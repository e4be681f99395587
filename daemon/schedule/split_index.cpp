#include "schedule/split_index.h"

#include <algorithm>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Polynomial;
using core::VariableId;

struct IndexSplit {
  VariableId variable = 0;
  core::Size parts, of_part;
};

template <typename Visit>
void ForEachOwnPosition(core::Stage& stage, const Visit& visit) {
  for (core::Node& node : stage.nodes) core::ForEachPosition(node, visit);
  for (core::Guard& guard : stage.domain) visit(guard.value);
  for (Affine& position : stage.at) visit(position);
}

// The extent of a stage's dimension, where that is what the quotient of a variable runs over.
std::optional<IndexSplit> SplitOf(const core::Computation& computation, const core::Stage& stage) {
  for (const core::Node& node : stage.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    const core::Stage* from = read && read->stage ? computation.FindStage(read->tensor) : nullptr;
    if (from == nullptr || from->output) continue;
    for (size_t d = 0; d < read->at.size(); ++d) {
      const auto* position = std::get_if<Affine>(&read->at[d]);
      if (!position || position->terms.size() != 1) continue;
      const Affine::Term& term = position->terms.front();
      if (term.part != Affine::Part::kQuotient || term.variable >= stage.extents.size()) continue;
      if (!core::IsNumber(term.coefficient, 1) || !core::IsNumber(position->constant, 0)) continue;
      const core::Size& parts = from->extents[d];
      const Polynomial extent = Polynomial::Of(stage.extents[term.variable]), of_part = Polynomial::Of(*term.modulus);
      const auto quotient = core::Size::Parse("(" + stage.extents[term.variable].text() + ") / (" + parts.text() + ")");
      const bool whole =
          extent == of_part * Polynomial::Of(parts) || (quotient && Polynomial::Of(*quotient) == of_part);
      if (whole) return IndexSplit{term.variable, parts, *term.modulus};
    }
  }
  return std::nullopt;
}

bool IsTakenApartAlike(core::Stage stage, const IndexSplit& split) {
  bool alike = true;
  ForEachOwnPosition(stage, [&](const Affine& position) {
    for (const Affine::Term& term : position.terms)
      if (term.variable == split.variable && term.modulus && !Equal(*term.modulus, split.of_part)) alike = false;
  });
  return alike;
}

// With variables behind the split one renumbered. False: a size overflows.
bool Replace(Affine& position, const IndexSplit& split) {
  std::vector<Affine::Term> terms;
  for (Affine::Term term : position.terms) {
    if (term.variable != split.variable) {
      term.variable += term.variable > split.variable ? 1 : 0;
      terms.push_back(std::move(term));
      continue;
    }
    const auto add = [&](VariableId variable, const Polynomial& coefficient) {
      if (const auto size = coefficient.ToExpression()) terms.push_back({variable, *size, Affine::Part::kWhole, {}});
      return coefficient.valid();
    };
    const Polynomial coefficient = Polynomial::Of(term.coefficient);
    const bool quotient = term.part != Affine::Part::kRemainder, remainder = term.part != Affine::Part::kQuotient;
    const Polynomial step =
        term.part == Affine::Part::kWhole ? coefficient * Polynomial::Of(split.of_part) : coefficient;
    if (quotient && !add(split.variable, step)) return false;
    if (remainder && !add(split.variable + 1, coefficient)) return false;
  }
  position.terms = std::move(terms);
  auto simple = core::Simplified(position);
  if (!simple) return false;
  position = std::move(*simple);
  return true;
}

std::optional<core::Stage> Split(core::Stage stage, const IndexSplit& split) {
  stage.at = StoredAt(stage);
  bool expressed = true;
  ForEachOwnPosition(stage, [&](Affine& position) { expressed = expressed && Replace(position, split); });
  for (core::Node& node : stage.nodes)
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) ++variable.id;
  const auto at = stage.extents.begin() + static_cast<std::ptrdiff_t>(split.variable);
  *at = split.of_part;
  stage.extents.insert(at, split.parts);
  if (!expressed) return std::nullopt;
  return stage;
}

}  // namespace

core::Computation WithSplitIndices(core::Computation computation) {
  for (core::Stage& stage : computation.stages) {
    if (!stage.output) continue;
    while (const auto split = SplitOf(computation, stage)) {
      auto with = IsTakenApartAlike(stage, *split) ? Split(stage, *split) : std::nullopt;
      if (!with) break;
      stage = std::move(*with);
    }
  }
  return computation;
}

}  // namespace warpwright::schedule
