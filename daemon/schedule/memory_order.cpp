#include "schedule/memory_order.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
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

core::VariableSet IndexSet(size_t count) { return core::SetOf(static_cast<VariableId>(count)) - 1; }

// The largest tensor along whose rows an index variable moves: what is read of it, and where.
struct Largest {
  const core::TensorRead* read = nullptr;  // null: no tensor has one
  FlatOffset offset;
};
Largest LargestTensor(const Problem& problem, const core::Computation& computation, const Stage& stage) {
  const core::ScheduledCase& c = HeaviestCase(problem);
  Largest found;
  int64_t largest = 0;
  const auto reachable = core::Reachable(stage);
  for (size_t id = 0; id < stage.nodes.size(); ++id) {
    const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&stage.nodes[id]) : nullptr;
    const std::vector<core::Size>* shape = read ? ShapeOfRead(computation, *read) : nullptr;
    const auto offset = shape ? FlatOffsetOf(*shape, read->at) : std::nullopt;
    if (!offset) continue;
    const int64_t elements = ValueIn(Product(*shape), c).value_or(0);
    const auto* last = read->at.empty() ? nullptr : std::get_if<core::Affine>(&read->at.back());
    const bool moves = last != nullptr && (core::VariablesOf(*last) & IndexSet(stage.extents.size())) != 0;
    if (!moves || elements <= largest) continue;
    largest = elements;
    found = {read, *offset};
  }
  return found;
}

// Variables of sums that have a coordinate to themselves: channels, and not the taps of a window.
core::VariableSet SummedAlone(const core::TensorRead& read, size_t index_variables) {
  core::VariableSet alone = 0;
  for (const core::Coordinate& coordinate : read.at)
    if (const auto* position = std::get_if<core::Affine>(&coordinate))
      if (const core::VariableSet variables = core::VariablesOf(*position);
          (variables & IndexSet(index_variables)) == 0)
        alone |= variables;
  return alone;
}

// Where each index variable stands if all are in the order of their strides in that tensor; what it does not have takes
// the place of what is summed there.
std::vector<VariableId> OrderOf(const Problem& problem, const Stage& stage, const Largest& tensor) {
  const core::ScheduledCase& c = HeaviestCase(problem);
  const size_t count = stage.extents.size();
  const auto stride = [&](VariableId v) -> int64_t {
    const auto found = tensor.offset.coefficients.find(v);
    return found == tensor.offset.coefficients.end() ? 0 : std::abs(ValueIn(found->second, c).value_or(0));
  };
  int64_t of_summed = 0;
  const core::VariableSet alone = SummedAlone(*tensor.read, count);
  for (const auto& [v, coefficient] : tensor.offset.coefficients)
    if ((alone & core::SetOf(v)) != 0) of_summed = std::max(of_summed, stride(v));
  std::vector<VariableId> order(count);
  std::iota(order.begin(), order.end(), VariableId{0});
  const auto place = [&](VariableId v) { return stride(v) != 0 ? stride(v) : of_summed; };
  std::stable_sort(order.begin(), order.end(), [&](VariableId a, VariableId b) { return place(a) > place(b); });
  std::vector<VariableId> now(count);
  for (size_t i = 0; i < count; ++i) now[order[i]] = static_cast<VariableId>(i);
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
    const Largest tensor = LargestTensor(problem, computation, stage);
    if (tensor.read == nullptr) continue;
    const std::vector<VariableId> now = OrderOf(problem, stage, tensor);
    if (std::is_sorted(now.begin(), now.end())) continue;
    Stage moved = stage;
    if (!Renumber(moved, now)) continue;
    const std::string name = stage.name;
    computation.stages[i] = std::move(moved);
    PermuteReads(computation, name, now);
  }
  return computation;
}

}  // namespace warpwright::schedule
