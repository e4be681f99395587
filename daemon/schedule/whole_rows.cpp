#include "schedule/whole_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Size;
using core::Stage;
using core::VariableId;

bool IsWhole(const Affine::Term& term, int coefficient) {
  return term.part == Affine::Part::kWhole && core::IsNumber(term.coefficient, coefficient);
}

// i + constant of i + v + constant, where `v` is the reduction's; nullopt: it is something else.
std::optional<Affine> MovedBy(const Affine& position, VariableId v) {
  if (position.terms.size() != 2 || !core::IsNumber(position.divisor, 1)) return std::nullopt;
  Affine rest{.terms = {}, .constant = position.constant};
  for (const Affine::Term& term : position.terms) {
    if (!IsWhole(term, 1)) return std::nullopt;
    if (term.variable != v) rest.terms.push_back(term);
  }
  return rest.terms.size() == 1 ? std::optional(std::move(rest)) : std::nullopt;
}

// What all reads are moved by, and the extent of what they move along.
struct Slide {
  Affine by;
  Size extent;
};
std::optional<Slide> SlideOf(const core::Computation& computation, const Stage& stage, VariableId v) {
  std::optional<Slide> slide;
  bool alike = true;
  for (const core::Node& node : stage.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    if (read == nullptr) continue;
    for (size_t d = 0; d < read->at.size(); ++d) {
      const auto* position = std::get_if<Affine>(&read->at[d]);
      if (position == nullptr) return std::nullopt;
      if ((core::VariablesOf(*position) & core::SetOf(v)) == 0) continue;
      const auto by = MovedBy(*position, v);
      const core::TensorArgument* tensor = read->stage ? nullptr : computation.FindTensor(read->tensor);
      const Stage* of = read->stage ? computation.FindStage(read->tensor) : nullptr;
      if (!by || (tensor == nullptr && of == nullptr)) return std::nullopt;
      const Size& extent = tensor != nullptr ? tensor->shape[d] : of->extents[d];
      if (!slide) slide = Slide{*by, extent};
      alike &= slide->by == *by && core::Polynomial::Of(slide->extent) == core::Polynomial::Of(extent);
    }
  }
  return alike ? slide : std::nullopt;
}

// 0 <= j - i - constant < window, as bounds of j - i.
std::optional<core::Guard> BandOf(const Slide& slide, VariableId j, const Size& window) {
  const core::Polynomial constant = core::Polynomial::Of(slide.by.constant),
                         high = constant + core::Polynomial::Of(window);
  if (!constant.valid() || !high.valid()) return std::nullopt;
  core::Guard band;
  Affine::Term row = slide.by.terms[0];
  row.coefficient = Size::Constant(-1);
  band.value.terms = {row, {j, Size::Constant(1), Affine::Part::kWhole, std::nullopt}};
  std::sort(band.value.terms.begin(), band.value.terms.end(),
            [](const auto& a, const auto& b) { return a.variable < b.variable; });
  band.value.constant = Size::Constant(0);
  band.low = constant.ToExpression();
  band.high = high.ToExpression();
  return band.low && band.high ? std::optional(std::move(band)) : std::nullopt;
}

// Whether it says no more than that a variable is within its extent.
bool IsTrivial(const core::Guard& guard, VariableId j, const Size& extent) {
  const bool plain = core::AsVariable(guard.value) == j;
  const bool low = !guard.low || core::IsNumber(*guard.low, 0);
  const bool high = !guard.high || core::Polynomial::Of(*guard.high) == core::Polynomial::Of(extent);
  return plain && low && high;
}

std::optional<Stage> WithWholeRow(const core::Computation& computation, const Stage& given) {
  Stage stage = given;
  auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
  if (reduce == nullptr || reduce->variables.size() != 1 || core::IsArg(reduce->op)) return std::nullopt;
  const VariableId v = reduce->variables[0].id;
  const auto slide = SlideOf(computation, stage, v);
  if (!slide) return std::nullopt;
  // The old variable, by the new one of the same number.
  Affine moved{
      .terms = {slide->by.terms[0], {v, Size::Constant(1), Affine::Part::kWhole, std::nullopt}},
      .constant = (core::Polynomial(0) - core::Polynomial::Of(slide->by.constant)).ToExpression().value_or(Size())};
  moved.terms[0].coefficient = Size::Constant(-1);
  const auto band = BandOf(*slide, v, reduce->variables[0].extent);
  if (!band) return std::nullopt;
  const std::map<VariableId, Affine> now = {{v, moved}};
  bool expressed = true;
  for (core::Node& node : stage.nodes)
    core::ForEachPosition(node, [&](Affine& position) {
      const auto replaced = core::Substituted(position, now);
      expressed &= replaced.has_value();
      if (replaced) position = *replaced;
    });
  std::vector<core::Guard> guards;
  for (const core::Guard& guard : reduce->guards) {
    const auto replaced = core::Substituted(guard, now);
    expressed &= replaced.has_value();
    if (replaced && !IsTrivial(*replaced, v, slide->extent)) guards.push_back(*replaced);
  }
  if (!expressed) return std::nullopt;
  guards.push_back(*band);
  reduce = std::get_if<core::Reduce>(&stage.nodes.back());
  reduce->guards = std::move(guards);
  reduce->variables[0].extent = slide->extent;
  return stage;
}

}  // namespace

core::Computation WithWholeRows(const core::Computation& computation) {
  core::Computation whole = computation;
  for (Stage& stage : whole.stages)
    if (auto moved = WithWholeRow(computation, stage)) stage = std::move(*moved);
  return core::Validate(whole) ? whole : computation;
}

}  // namespace warpwright::schedule
