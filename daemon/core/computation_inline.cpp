#include "core/computation_inline.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/affine.h"
#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr size_t kSmall = 3;  // nodes: -1 * t[i]

const TensorRead* AsReadOf(const Node& node, const std::string& stage) {
  const auto* read = std::get_if<TensorRead>(&node);
  return read != nullptr && read->stage && read->tensor == stage ? read : nullptr;
}

// Without the nodes that the root does not depend on.
Stage Compacted(const Stage& stage) {
  const auto reachable = Reachable(stage);
  Stage compact = stage;
  compact.nodes.clear();
  std::vector<NodeId> moved(stage.nodes.size());
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    Node node = stage.nodes[i];
    ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
    moved[i] = static_cast<NodeId>(compact.nodes.size());
    compact.nodes.push_back(std::move(node));
  }
  return compact;
}

VariableSet AllVariables(const Stage& stage) {
  VariableSet all = (VariableSet{1} << stage.extents.size()) - 1;
  for (const auto& node : stage.nodes)
    if (const auto* reduce = std::get_if<Reduce>(&node)) all |= VariablesOf(*reduce);
  return all;
}

bool ReplacePositions(Node& node, const std::map<VariableId, Affine>& replacements) {
  bool composed = true;
  ForEachPosition(node, [&](Affine& position) {
    auto replaced = Substituted(position, replacements);
    if (replaced) position = std::move(*replaced);
    else composed = false;
  });
  return composed;
}

// Appends the nodes of `stage`, read at `at`, to a reader's. The id of its value; none: it cannot be expressed.
std::optional<NodeId> AppendNodes(const Stage& stage, const std::vector<Coordinate>& at, Stage& reader,
                                  VariableSet& taken) {
  std::map<VariableId, Affine> replacements;
  for (VariableId v = 0; v < at.size(); ++v) {
    const auto* position = std::get_if<Affine>(&at[v]);
    if (position == nullptr) return std::nullopt;
    replacements[v] = *position;
  }
  std::map<VariableId, VariableId> renumbered;
  for (const auto& node : stage.nodes) {
    const auto* reduce = std::get_if<Reduce>(&node);
    if (reduce == nullptr) continue;
    for (const auto& variable : reduce->variables) {
      if (renumbered.contains(variable.id)) continue;
      const auto fresh = static_cast<VariableId>(std::countr_one(taken));
      if (fresh >= kMaxVariables) return std::nullopt;
      taken |= SetOf(fresh);
      renumbered[variable.id] = fresh;
      replacements[variable.id] = AffineOf(fresh);
    }
  }
  const auto first = static_cast<NodeId>(reader.nodes.size());
  for (Node node : stage.nodes) {
    ForEachArgument(node, [&](NodeId& arg) { arg += first; });
    if (!ReplacePositions(node, replacements)) return std::nullopt;
    if (auto* reduce = std::get_if<Reduce>(&node))
      for (auto& variable : reduce->variables) variable.id = renumbered.at(variable.id);
    reader.nodes.push_back(std::move(node));
  }
  return static_cast<NodeId>(reader.nodes.size() - 1);
}

std::optional<Stage> WithStage(const Stage& stage, const Stage& reader, size_t node_limit) {
  Stage result = reader;
  result.nodes.clear();
  VariableSet taken = AllVariables(reader);
  std::vector<NodeId> moved(reader.nodes.size());
  for (size_t i = 0; i < reader.nodes.size(); ++i) {
    Node node = reader.nodes[i];
    ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
    if (const TensorRead* read = AsReadOf(node, stage.name)) {
      const auto value = AppendNodes(stage, read->at, result, taken);
      if (!value) return std::nullopt;
      moved[i] = *value;
    } else {
      moved[i] = static_cast<NodeId>(result.nodes.size());
      result.nodes.push_back(std::move(node));
    }
    if (result.nodes.size() > 2 * node_limit) return std::nullopt;
  }
  // The root may have been a read in the middle of what was appended: it is the last node in any case.
  result = Compacted(result);
  if (result.nodes.size() > node_limit) return std::nullopt;
  return result;
}

size_t ReadsOf(const Computation& computation, const std::string& stage) {
  size_t reads = 0;
  for (const auto& reader : computation.stages)
    for (const auto& node : reader.nodes) reads += AsReadOf(node, stage) != nullptr ? 1 : 0;
  return reads;
}

bool IsSmall(const Stage& stage) {
  return stage.nodes.size() <= kSmall && std::none_of(stage.nodes.begin(), stage.nodes.end(), [](const Node& node) {
           return std::holds_alternative<Reduce>(node);
         });
}

enum class Worth : uint8_t { kReading, kComputing };

// False: the stage stays.
bool Inline(Computation& computation, size_t at, size_t node_limit, Worth worth) {
  const Stage& stage = computation.stages[at];
  const auto parts = std::count_if(computation.stages.begin(), computation.stages.end(),
                                   [&](const Stage& s) { return s.name == stage.name; });
  if (stage.output || parts > 1) return false;
  if (worth == Worth::kComputing && HasReduction(stage)) return false;
  if (worth == Worth::kReading && ReadsOf(computation, stage.name) > 1 && !IsSmall(stage)) return false;
  std::vector<std::pair<size_t, Stage>> changed;
  for (size_t i = at + 1; i < computation.stages.size(); ++i) {
    const Stage& reader = computation.stages[i];
    const bool reads_it = std::any_of(reader.nodes.begin(), reader.nodes.end(),
                                      [&](const Node& node) { return AsReadOf(node, stage.name) != nullptr; });
    if (!reads_it) continue;
    auto with = WithStage(stage, reader, node_limit);
    if (!with) return false;
    changed.emplace_back(i, std::move(*with));
  }
  for (auto& [i, with] : changed) computation.stages[i] = std::move(with);
  computation.stages.erase(computation.stages.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

Computation InlinedFor(Worth worth, const Computation& computation, size_t node_limit) {
  Computation result = computation;
  for (auto& stage : result.stages) stage = Compacted(stage);
  // The last first, so that a stage that nobody reads any more goes with what it reads.
  for (size_t at = result.stages.size(); at-- > 0;) Inline(result, at, node_limit, worth);
  return result;
}

}  // namespace

Computation Inlined(const Computation& computation, size_t node_limit) {
  return InlinedFor(Worth::kReading, computation, node_limit);
}

Computation WithoutMaps(const Computation& computation, size_t node_limit) {
  return InlinedFor(Worth::kComputing, computation, node_limit);
}

}  // namespace warpwright::core
