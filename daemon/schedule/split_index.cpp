#include "schedule/split_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"
#include "schedule/kernel_text.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Polynomial;
using core::VariableId;

constexpr int64_t kMostGroups = 64;

struct IndexSplit {
  VariableId variable = 0;
  core::Size parts, of_part;
  bool whole = true;           // parts * of_part are the variable's extent, not more
  std::string condition = {};  // of the sizes, without which they are less; empty: they never are
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

// That the two make an index which there was.
core::Guard WithinExtent(const IndexSplit& split, const core::Size& extent) {
  core::Affine index;
  index.constant = core::Size::Constant(0);
  index.terms = {{split.variable, split.of_part, Affine::Part::kWhole, {}},
                 {split.variable + 1, core::Size::Constant(1), Affine::Part::kWhole, {}}};
  return {std::move(index), std::nullopt, extent};
}

std::optional<core::Stage> Split(core::Stage stage, const IndexSplit& split) {
  stage.at = StoredAt(stage);
  bool expressed = true;
  ForEachOwnPosition(stage, [&](Affine& position) { expressed = expressed && Replace(position, split); });
  for (core::Node& node : stage.nodes)
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) ++variable.id;
  const auto at = stage.extents.begin() + static_cast<std::ptrdiff_t>(split.variable);
  if (!split.whole) stage.domain.push_back(WithinExtent(split, *at));
  *at = split.of_part;
  stage.extents.insert(at, split.parts);
  if (!expressed) return std::nullopt;
  return stage;
}

// The g of a quotient by K / g, for K channels.
std::optional<core::Size> NumberOfGroups(const core::Size& extent, const core::Size& of_group) {
  std::vector<core::Size> candidates;
  for (const std::string& name : of_group.Variables())
    if (auto size = core::Size::Parse(name)) candidates.push_back(std::move(*size));
  for (int64_t number = 2; number <= kMostGroups; ++number) candidates.push_back(core::Size::Constant(number));
  for (core::Size& groups : candidates) {
    const auto quotient = core::Size::Parse(fmt::format("({}) / ({})", extent.text(), groups.text()));
    if (quotient && Polynomial::Of(*quotient) == Polynomial::Of(of_group)) return std::move(groups);
  }
  return std::nullopt;
}

// Of a variable that positions take apart, all by the same size: the last part may be a shorter one.
std::optional<IndexSplit> SplitOfTerms(core::Stage stage, VariableId variable) {
  std::optional<core::Size> modulus;
  ForEachOwnPosition(stage, [&](const Affine& position) {
    for (const Affine::Term& term : position.terms)
      if (term.variable == variable && term.modulus) modulus = *term.modulus;
  });
  if (!modulus) return std::nullopt;
  const core::Size& extent = stage.extents[variable];
  const auto quotient = Polynomial::Of(extent).DividedBy(Polynomial::Of(*modulus));
  const bool whole = quotient && quotient->ToExpression();
  const bool number = Polynomial::Of(*modulus).constant().has_value();
  std::optional<core::Size> parts = whole ? quotient->ToExpression() : std::nullopt;
  if (!whole && !number) parts = NumberOfGroups(extent, *modulus);
  if (!whole && number)
    if (auto up = core::Size::Parse(fmt::format("({0} + {1} - 1) / {1}", extent.text(), modulus->text()))) parts = *up;
  if (!parts) return std::nullopt;
  const bool groups = !whole && !number;
  IndexSplit split{variable, std::move(*parts), *modulus, whole || groups};
  if (groups) split.condition = fmt::format("{} % {} == 0", Parenthesized(SizeText(extent)), SizeText(split.parts));
  if (!IsTakenApartAlike(std::move(stage), split)) return std::nullopt;
  return split;
}

// A reader of the stage at variables of its own, with the one of that dimension split as there. None: it reads the
// stage in another way.
std::optional<core::Stage> SplitReader(core::Stage reader, const std::string& name, const core::Size& extent,
                                       const IndexSplit& of) {
  std::optional<VariableId> own;
  for (const core::Node& node : reader.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    if (read == nullptr || !read->stage || read->tensor != name) continue;
    const auto* position = std::get_if<Affine>(&read->at[of.variable]);
    const auto variable = position ? core::AsVariable(*position) : std::nullopt;
    if (!variable || *variable >= reader.extents.size() || (own && own != variable)) return std::nullopt;
    own = variable;
  }
  if (!own) return reader;
  const IndexSplit split{*own, of.parts, of.of_part, of.whole};
  if (!Equal(reader.extents[*own], extent) || !IsTakenApartAlike(reader, split)) return std::nullopt;
  const bool output = reader.output;
  auto with = Split(std::move(reader), split);
  if (!with) return std::nullopt;
  if (!output) with->at.clear();
  for (core::Node& node : with->nodes) {
    auto* read = std::get_if<core::TensorRead>(&node);
    if (read == nullptr || !read->stage || read->tensor != name) continue;
    read->at[of.variable] = core::AffineOf(split.variable);
    read->at.insert(read->at.begin() + static_cast<std::ptrdiff_t>(of.variable) + 1,
                    core::AffineOf(split.variable + 1));
  }
  return with;
}

// The stage and all that read it, in the computation; false: unchanged.
bool SplitStage(core::Computation& computation, size_t index, const IndexSplit& split) {
  core::Computation changed = computation;
  const std::string& name = computation.stages[index].name;
  const core::Size& extent = computation.stages[index].extents[split.variable];
  auto with = Split(changed.stages[index], split);
  if (!with) return false;
  if (!with->output) with->at.clear();
  changed.stages[index] = std::move(*with);
  for (size_t i = index + 1; i < changed.stages.size(); ++i) {
    auto reader = SplitReader(changed.stages[i], name, extent, split);
    if (!reader) return false;
    changed.stages[i] = std::move(*reader);
  }
  computation = std::move(changed);
  return true;
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

core::Computation WithSplitTerms(core::Computation computation, std::vector<std::string>& conditions) {
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const auto* reduce = std::get_if<core::Reduce>(&computation.stages[i].nodes.back());
    if (reduce == nullptr || reduce->op != core::ReduceOp::kSum) continue;
    for (VariableId v = 0; v < computation.stages[i].extents.size(); ++v)
      if (const auto split = SplitOfTerms(computation.stages[i], v); split && SplitStage(computation, i, *split)) {
        if (!split->condition.empty()) conditions.push_back(split->condition);
        ++v;
      }
  }
  return computation;
}

}  // namespace warpwright::schedule
