#include "schedule/single_positions.h"

#include <map>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Stage;
using core::VariableId;

std::optional<VariableId> SingleOf(const core::Computation& computation, const Stage& stage) {
  const core::TensorArgument* tensor = computation.FindTensor(stage.name);
  if (!stage.output || tensor == nullptr || stage.extents.size() < 2) return std::nullopt;
  for (VariableId v = 0; v < stage.extents.size(); ++v)
    if (core::IsNumber(stage.extents[v], 1) && v < tensor->shape.size() && !core::IsNumber(tensor->shape[v], 1))
      return v;
  return std::nullopt;
}

// The variable is 0, and those behind it are one less.
std::optional<Stage> Without(const Stage& given, VariableId single) {
  Stage stage = given;
  stage.at = StoredAt(given);
  stage.extents.erase(stage.extents.begin() + static_cast<std::ptrdiff_t>(single));
  std::map<VariableId, Affine> now = {{single, core::AffineOf(core::Size::Constant(0))}};
  for (VariableId v = single + 1; v < core::kMaxVariables; ++v) now[v] = core::AffineOf(v - 1);
  bool expressed = true;
  const auto replace = [&](Affine& position) {
    const auto replaced = core::Substituted(position, now);
    expressed &= replaced.has_value();
    if (replaced) position = *replaced;
  };
  for (Affine& position : stage.at) replace(position);
  for (core::Guard& guard : stage.domain) replace(guard.value);
  for (core::Node& node : stage.nodes) {
    core::ForEachPosition(node, replace);
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) --variable.id;
  }
  return expressed ? std::optional(std::move(stage)) : std::nullopt;
}

}  // namespace

core::Computation WithoutSinglePositions(core::Computation computation) {
  for (Stage& stage : computation.stages)
    while (const auto single = SingleOf(computation, stage)) {
      auto without = Without(stage, *single);
      if (!without) break;
      stage = std::move(*without);
    }
  return computation;
}

core::Stage WithoutSingles(Stage stage) {
  for (VariableId v = 0; v < stage.extents.size() && stage.extents.size() > 1;) {
    auto without = core::IsNumber(stage.extents[v], 1) ? Without(stage, v) : std::nullopt;
    if (without) stage = std::move(*without);
    else ++v;
  }
  return stage;
}

}  // namespace warpwright::schedule
