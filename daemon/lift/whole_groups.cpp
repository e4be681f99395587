#include "lift/whole_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::lift {
namespace {

using core::Polynomial;

std::map<core::VariableId, core::Size> ExtentsOf(const core::Stage& stage) {
  std::map<core::VariableId, core::Size> extents;
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) extents[v] = stage.extents[v];
  for (const core::Node& node : stage.nodes)
    if (const auto* reduce = std::get_if<core::Reduce>(&node))
      for (const auto& variable : reduce->variables) extents[variable.id] = variable.extent;
  return extents;
}

// The sizes n and d of which the group is n / d for an extent of n, or both times the same.
void AddAssumptions(const core::Computation& computation, const core::Size& extent, const core::Size& group,
                    std::vector<std::string>& assumptions) {
  for (const std::string& n : computation.sizes)
    for (const std::string& d : computation.sizes) {
      const auto size = core::Size::Parse(n), quotient = core::Size::Parse(fmt::format("{} / {}", n, d));
      if (n == d || !size || !quotient) continue;
      const bool groups =
          Polynomial::Of(group) * Polynomial::Of(*size) == Polynomial::Of(*quotient) * Polynomial::Of(extent);
      std::string assumption = fmt::format("{} % {} = 0", n, d);
      if (groups && std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end())
        assumptions.push_back(std::move(assumption));
    }
}

}  // namespace

std::vector<std::string> WholeGroups(const core::Computation& computation) {
  std::vector<std::string> assumptions;
  for (const core::Stage& stage : computation.stages) {
    const auto extents = ExtentsOf(stage);
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !read->stage) continue;
      core::ForEachPosition(node, [&](const core::Affine& position) {
        for (const core::Affine::Term& term : position.terms)
          if (term.part == core::Affine::Part::kQuotient && term.modulus && !term.modulus->Variables().empty())
            AddAssumptions(computation, extents.at(term.variable), *term.modulus, assumptions);
      });
    }
  }
  return assumptions;
}

}  // namespace warpwright::lift
