#include "schedule/row_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::Polynomial;
using core::Stage;
using core::TensorRead;
using core::VariableId;

constexpr int64_t kMostBlocks = 16;

// A coordinate of a stage's one read that picks a block: h + g * H of h < H.
struct Place {
  size_t node = 0, coordinate = 0;
  bool operator==(const Place&) const = default;
};

Affine& At(Stage& stage, const Place& place) {
  return std::get<Affine>(std::get<TensorRead>(stage.nodes[place.node]).at[place.coordinate]);
}
const Affine& At(const Stage& stage, const Place& place) { return At(const_cast<Stage&>(stage), place); }

// The index variable that the position is but for a constant, if the stage uses it nowhere else.
std::optional<VariableId> BlockVariable(const Stage& stage, const Place& place) {
  Affine position = At(stage, place);
  position.constant = core::Size::Constant(0);
  const auto variable = core::AsVariable(position);
  if (!variable || *variable >= stage.extents.size()) return std::nullopt;
  int uses = 0;
  for (const core::Node& node : stage.nodes)
    core::ForEachPosition(
        node, [&](const Affine& other) { uses += (core::VariablesOf(other) & core::SetOf(*variable)) != 0 ? 1 : 0; });
  return uses == 1 ? variable : std::nullopt;
}

std::vector<Place> PlacesOf(const Stage& stage) {
  std::vector<Place> places;
  for (size_t node = 0; node < stage.nodes.size(); ++node) {
    const auto* read = std::get_if<TensorRead>(&stage.nodes[node]);
    for (size_t c = 0; read != nullptr && !read->stage && c < read->at.size(); ++c)
      if (std::holds_alternative<Affine>(read->at[c]) && BlockVariable(stage, {node, c})) places.push_back({node, c});
  }
  return places;
}

// Which block it takes: g of the constant g * H.
std::optional<int64_t> BlockOf(const Stage& stage, const Place& place) {
  const Polynomial block = Polynomial::Of(stage.extents[*BlockVariable(stage, place)]);
  const Polynomial constant = Polynomial::Of(At(stage, place).constant);
  for (int64_t g = 0; g < kMostBlocks; ++g)
    if (constant == Polynomial(g) * block) return g;
  return std::nullopt;
}

bool IsSumOfArguments(const Stage& stage) {
  const core::Reduce* sum = RootSumOf(stage);
  return sum != nullptr && sum->guards.empty() && !stage.output && stage.domain.empty() &&
         std::none_of(stage.nodes.begin(), stage.nodes.end(), [](const core::Node& node) {
           const auto* read = std::get_if<TensorRead>(&node);
           return read != nullptr && read->stage;
         });
}

// Read by positions alone, so that another may take its place.
bool IsReadPlainly(const core::Computation& computation, const std::string& name, VariableId variable) {
  for (const Stage& stage : computation.stages)
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<TensorRead>(&node);
      if (read != nullptr && read->stage && read->tensor == name && !std::holds_alternative<Affine>(read->at[variable]))
        return false;
    }
  return std::count_if(computation.stages.begin(), computation.stages.end(),
                       [&](const Stage& stage) { return stage.name == name; }) == 1;
}

// Stages by the block that they take at a place, all else being equal.
using Blocks = std::map<int64_t, size_t>;
Blocks BlocksLike(const core::Computation& computation, size_t first, const Place& place) {
  const auto without_block = [&](Stage stage) {
    At(stage, place).constant = core::Size::Constant(0);
    stage.name.clear(), stage.line = 0;
    return stage;
  };
  const Stage& like = computation.stages[first];
  const VariableId variable = *BlockVariable(like, place);
  const Stage common = without_block(like);
  Blocks blocks;
  for (size_t i = first; i < computation.stages.size(); ++i) {
    const Stage& stage = computation.stages[i];
    if (!IsSumOfArguments(stage) || stage.nodes.size() != like.nodes.size()) continue;
    const auto places = PlacesOf(stage);
    if (std::find(places.begin(), places.end(), place) == places.end() || without_block(stage) != common) continue;
    const auto block = BlockOf(stage, place);
    if (block && IsReadPlainly(computation, stage.name, variable)) blocks.emplace(*block, i);
  }
  return blocks;
}

bool AreNeighbours(const Blocks& blocks) {
  return blocks.size() > 1 && blocks.rbegin()->first - blocks.begin()->first + 1 == static_cast<int64_t>(blocks.size());
}

core::Size Times(int64_t count, const core::Size& size) {
  if (count == 0) return core::Size::Constant(0);
  const auto product = (Polynomial(count) * Polynomial::Of(size)).ToExpression();
  return product.value_or(size);
}

// One stage in the place of the first, which the readers of all read.
void Join(core::Computation& computation, const Blocks& blocks, const Place& place) {
  auto& stages = computation.stages;
  const size_t first = std::min_element(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                       })->second;
  const VariableId variable = *BlockVariable(stages[first], place);
  const core::Size rows = stages[first].extents[variable];
  std::map<std::string, core::Size> begins;  // in the joined stage
  const int64_t lowest = blocks.begin()->first;
  for (const auto& [block, i] : blocks) begins[stages[i].name] = Times(block - lowest, rows);
  Stage& joined = stages[first];
  joined.extents[variable] = Times(static_cast<int64_t>(blocks.size()), rows);
  At(joined, place).constant = Times(lowest, rows);
  const std::string name = joined.name;
  for (Stage& stage : stages)
    for (core::Node& node : stage.nodes) {
      auto* read = std::get_if<TensorRead>(&node);
      const auto found = read != nullptr && read->stage ? begins.find(read->tensor) : begins.end();
      if (found == begins.end()) continue;
      read->tensor = name;
      Affine& position = std::get<Affine>(read->at[variable]);
      const auto constant =
          (Polynomial::Of(position.constant) + Polynomial::Of(found->second) * Polynomial::Of(position.divisor))
              .ToExpression();
      position.constant = constant.value_or(position.constant);
    }
  std::erase_if(stages, [&](const Stage& stage) { return stage.name != name && begins.contains(stage.name); });
}

}  // namespace

core::Computation WithRowBlocks(core::Computation computation) {
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    if (!IsSumOfArguments(computation.stages[i])) continue;
    for (const Place& place : PlacesOf(computation.stages[i])) {
      const Blocks blocks = BlocksLike(computation, i, place);
      if (!AreNeighbours(blocks)) continue;
      Join(computation, blocks, place);
      break;
    }
  }
  return computation;
}

}  // namespace warpwright::schedule
