#include "lift/forward_coordinates.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::lift {
namespace {

using core::Affine;
using core::Computation;
using core::Polynomial;
using core::Stage;
using core::VariableId;

bool RunsBackwards(const Affine& position) {
  if (position.terms.empty() || !core::IsNumber(position.divisor, 1)) return false;
  for (const Affine::Term& term : position.terms) {
    const auto coefficient = Polynomial::Of(term.coefficient).constant();
    if (!coefficient || *coefficient >= 0) return false;
  }
  return true;
}

// visit(Affine&) for each coordinate `d` at which stages read the intermediate; false: it is no position.
template <typename C, typename Visit>
bool ForEachRead(C& computation, const std::string& name, VariableId d, const Visit& visit) {
  bool all = true;
  for (auto& stage : computation.stages)
    for (auto& node : stage.nodes) {
      auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !read->stage || read->tensor != name) continue;
      auto* position = d < read->at.size() ? std::get_if<Affine>(&read->at[d]) : nullptr;
      if (position != nullptr) visit(*position);
      else all = false;
    }
  return all;
}

bool IsReadBackwards(const Computation& computation, const std::string& name, VariableId d) {
  bool backwards = true, read = false;
  const bool all = ForEachRead(computation, name, d, [&](const Affine& position) {
    read = true;
    backwards = backwards && RunsBackwards(position);
  });
  return all && read && backwards;
}

// What is at `extent` - 1 - position. nullopt: it cannot be said.
std::optional<Affine> Turned(const Affine& position, const core::Size& extent) {
  Affine turned = position;
  const auto constant = (Polynomial::Of(extent) - Polynomial(1) - Polynomial::Of(position.constant)).ToExpression();
  if (!constant) return std::nullopt;
  turned.constant = *constant;
  for (Affine::Term& term : turned.terms) {
    const auto coefficient = (Polynomial() - Polynomial::Of(term.coefficient)).ToExpression();
    if (!coefficient) return std::nullopt;
    term.coefficient = *coefficient;
  }
  return core::Simplified(turned);
}

// With coordinate `d` of the intermediate the other way round, its parts and its readers. nullopt: it cannot be said.
std::optional<Computation> WithTurned(const Computation& computation, const std::string& name, VariableId d) {
  Computation turned = computation;
  std::optional<core::Size> extent;
  bool all = true;
  for (Stage& stage : turned.stages) {
    if (stage.name != name) continue;
    extent = stage.extents[d];
    const auto back = Turned(core::AffineOf(d), *extent);
    if (!back) return std::nullopt;
    const auto replace = [&](Affine& position) {
      if ((core::VariablesOf(position) & core::SetOf(d)) == 0) return;
      auto replaced = core::Substituted(position, {{d, *back}});
      if (replaced) replaced = core::Simplified(*replaced);
      all &= replaced.has_value();
      if (replaced) position = std::move(*replaced);
    };
    for (core::Guard& guard : stage.domain) replace(guard.value);
    for (core::Node& node : stage.nodes) core::ForEachPosition(node, replace);
  }
  ForEachRead(turned, name, d, [&](Affine& position) {
    auto replaced = Turned(position, *extent);
    all &= replaced.has_value();
    if (replaced) position = std::move(*replaced);
  });
  return all ? std::optional(std::move(turned)) : std::nullopt;
}

}  // namespace

Computation WithForwardCoordinates(Computation computation) {
  std::set<std::string> seen;
  // Readers first: what they read is turned with them.
  for (size_t i = computation.stages.size(); i-- > 0;) {
    const Stage stage = computation.stages[i];
    if (stage.output || !seen.insert(stage.name).second) continue;
    for (VariableId d = 0; d < stage.extents.size(); ++d)
      if (IsReadBackwards(computation, stage.name, d))
        if (auto turned = WithTurned(computation, stage.name, d)) computation = std::move(*turned);
  }
  return computation;
}

}  // namespace warpwright::lift
