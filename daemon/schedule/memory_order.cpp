#include "schedule/memory_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::Stage;
using core::VariableId;

const std::vector<core::Size>* ShapeOfRead(const core::Computation& computation, const core::TensorRead& read) {
  if (!read.stage) {
    const core::TensorArgument* tensor = computation.FindTensor(read.tensor);
    return tensor != nullptr && core::IsFloat(tensor->dtype) ? &tensor->shape : nullptr;
  }
  const Stage* stage = computation.FindStage(read.tensor);
  return stage != nullptr ? &stage->extents : nullptr;
}

// The index variable along which neighbours lie in the largest tensor that has one; none: no tensor has.
std::optional<VariableId> AlongMemory(const Problem& problem, const core::Computation& computation,
                                      const Stage& stage) {
  const core::ScheduledCase& c = HeaviestCase(problem);
  std::optional<VariableId> along;
  int64_t largest = 0;
  const auto reachable = core::Reachable(stage);
  for (size_t id = 0; id < stage.nodes.size(); ++id) {
    const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&stage.nodes[id]) : nullptr;
    const std::vector<core::Size>* shape = read ? ShapeOfRead(computation, *read) : nullptr;
    const auto offset = shape ? FlatOffsetOf(*shape, read->at) : std::nullopt;
    if (!offset) continue;
    const int64_t elements = ValueIn(Product(*shape), c).value_or(0);
    for (VariableId v = 0; v < stage.extents.size(); ++v) {
      const auto found = offset->coefficients.find(v);
      if (found == offset->coefficients.end() || !core::IsNumber(found->second, 1) || elements <= largest) continue;
      largest = elements;
      along = v;
    }
  }
  return along;
}

// Where a variable was, and where it is now: `last` behind all others.
std::vector<VariableId> Order(size_t count, VariableId last) {
  std::vector<VariableId> now(count);
  for (VariableId v = 0; v < count; ++v) now[v] = v < last ? v : v == last ? static_cast<VariableId>(count - 1) : v - 1;
  return now;
}

// Whether all positions can be expressed so.
bool Renumber(Stage& stage, const std::vector<VariableId>& now) {
  std::map<VariableId, core::Affine> renumbered;
  for (VariableId v = 0; v < now.size(); ++v) renumbered[v] = core::AffineOf(now[v]);
  bool expressed = true;
  const auto replace = [&](core::Affine& position) {
    const auto replaced = core::Substituted(position, renumbered);
    expressed &= replaced.has_value();
    if (replaced) position = *replaced;
  };
  for (core::Node& node : stage.nodes) core::ForEachPosition(node, replace);
  for (core::Guard& guard : stage.domain) replace(guard.value);
  std::vector<core::Size> extents(stage.extents.size());
  for (VariableId v = 0; v < now.size(); ++v) extents[now[v]] = stage.extents[v];
  stage.extents = std::move(extents);
  return expressed;
}

void PermuteReads(core::Computation& computation, const std::string& name, const std::vector<VariableId>& now) {
  for (Stage& stage : computation.stages)
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read && read->stage && read->tensor == name) {
        std::vector<core::Coordinate> at(read->at.size());
        for (VariableId v = 0; v < now.size(); ++v) at[now[v]] = read->at[v];
        read->at = std::move(at);
      }
}

}  // namespace

core::Computation WithMemoryOrder(const Problem& problem, core::Computation computation) {
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const Stage& stage = computation.stages[i];
    const auto parts = std::count_if(computation.stages.begin(), computation.stages.end(),
                                     [&](const Stage& other) { return other.name == stage.name; });
    if (stage.output || parts != 1 || stage.extents.size() < 2) continue;
    const auto along = AlongMemory(problem, computation, stage);
    if (!along || *along + 1 == stage.extents.size()) continue;
    const std::vector<VariableId> now = Order(stage.extents.size(), *along);
    Stage moved = stage;
    if (!Renumber(moved, now)) continue;
    const std::string name = stage.name;
    computation.stages[i] = std::move(moved);
    PermuteReads(computation, name, now);
  }
  return computation;
}

}  // namespace warpwright::schedule
