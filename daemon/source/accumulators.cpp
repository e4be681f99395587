#include <set>

#include "source/analysis.h"
#include "source/features.h"

namespace warpwright::source {
namespace {

using Kind = Accumulator::Kind;

bool IsNameOf(const Node& node, const std::string& symbol) {
  const Node& name = StripCasts(node);
  return name.Is(NodeKind::kName) && name.symbol == symbol;
}

bool Mentions(const Node& root, const std::string& symbol) {
  bool found = false;
  ForEach(root, [&](const Node& node) { found |= node.Is(NodeKind::kName) && node.symbol == symbol; });
  return found;
}

std::optional<Kind> ExtremumCall(const Node& call) {
  static const std::set<std::string> kMaxima = {"fmaxf", "fmax", "max", "__hmax"};
  static const std::set<std::string> kMinima = {"fminf", "fmin", "min", "__hmin"};
  std::string name = call.name;
  if (const size_t colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  if (kMaxima.contains(name)) return Kind::kMaximum;
  if (kMinima.contains(name)) return Kind::kMinimum;
  return std::nullopt;
}

struct Update {
  Kind kind;
  const Node* value;
};

// acc = acc + v, acc = v * acc, acc = fmaxf(acc, v), acc = v > acc ? v : acc, acc = fmaf(a, b, acc)
std::optional<Update> FromAssignedValue(const Node& value, const std::string& symbol) {
  if (value.Is(NodeKind::kBinary) && (value.name == "+" || value.name == "*") && value.size() == 2) {
    const Kind kind = value.name == "+" ? Kind::kSum : Kind::kProduct;
    for (size_t side : {0, 1})
      if (IsNameOf(value[side], symbol) && !Mentions(value[1 - side], symbol)) return Update{kind, &value[1 - side]};
    return std::nullopt;
  }
  if (value.Is(NodeKind::kCall) && value.size() == 2) {
    const auto kind = ExtremumCall(value);
    for (size_t side : {0, 1})
      if (kind && IsNameOf(value[side], symbol) && !Mentions(value[1 - side], symbol))
        return Update{*kind, &value[1 - side]};
    return std::nullopt;
  }
  if (value.Is(NodeKind::kCall) && value.size() == 3 &&
      (value.name == "fmaf" || value.name == "fma" || value.name == "__fmaf_rn") && IsNameOf(value[2], symbol) &&
      !Mentions(value[0], symbol) && !Mentions(value[1], symbol))
    return Update{Kind::kSum, &value};
  if (value.Is(NodeKind::kConditional) && value[0].Is(NodeKind::kBinary) && value[0].size() == 2) {
    const std::string& relation = value[0].name;
    const bool greater = relation == ">" || relation == ">=", less = relation == "<" || relation == "<=";
    if (!greater && !less) return std::nullopt;
    // v > acc ? v : acc  is a maximum, as is  acc > v ? acc : v.
    const bool keeps_acc_first = IsNameOf(value[1], symbol);
    const Node& other = value[keeps_acc_first ? 2 : 1];
    if (!IsNameOf(value[keeps_acc_first ? 1 : 2], symbol) || Mentions(other, symbol)) return std::nullopt;
    const bool acc_left = IsNameOf(value[0][0], symbol);
    if (!acc_left && !IsNameOf(value[0][1], symbol)) return std::nullopt;
    const bool picks_larger = greater == (acc_left == keeps_acc_first);
    return Update{picks_larger ? Kind::kMaximum : Kind::kMinimum, &other};
  }
  return std::nullopt;
}

std::optional<Update> FromAssignment(const Node& assignment, const std::string& symbol) {
  if (!assignment.Is(NodeKind::kAssign) || assignment.size() != 2 || !IsNameOf(assignment[0], symbol))
    return std::nullopt;
  if (assignment.name == "=") return FromAssignedValue(assignment[1], symbol);
  if (Mentions(assignment[1], symbol)) return std::nullopt;
  if (assignment.name == "+=" || assignment.name == "-=") return Update{Kind::kSum, &assignment[1]};
  if (assignment.name == "*=") return Update{Kind::kProduct, &assignment[1]};
  return std::nullopt;
}

// if (v > acc) acc = v;   (a block around the assignment is ignored)
std::optional<Update> FromComparison(const Node& branch, const std::string& symbol) {
  if (!branch.Is(NodeKind::kIf) || !branch[kIfElse].Is(NodeKind::kEmpty) || !branch[kIfCondition].Is(NodeKind::kBinary))
    return std::nullopt;
  const Node* then = &branch[kIfThen];
  while (then->Is(NodeKind::kBlock) && then->size() == 1) then = &(*then)[0];
  if (!then->Is(NodeKind::kAssign, "=") || !IsNameOf((*then)[0], symbol) || Mentions((*then)[1], symbol))
    return std::nullopt;
  const Node& condition = branch[kIfCondition];
  const bool greater = condition.name == ">" || condition.name == ">=",
             less = condition.name == "<" || condition.name == "<=";
  const bool acc_left = IsNameOf(condition[0], symbol), acc_right = IsNameOf(condition[1], symbol);
  if ((!greater && !less) || acc_left == acc_right || Mentions(condition[acc_left ? 1 : 0], symbol))
    return std::nullopt;
  return Update{greater == acc_right ? Kind::kMaximum : Kind::kMinimum, &(*then)[1]};
}

const Node* InnermostLoop(const Node& node) {
  for (const Node* at = node.parent; at != nullptr; at = at->parent)
    if (at->Is(NodeKind::kFor) || at->Is(NodeKind::kWhile) || at->Is(NodeKind::kDo)) return at;
  return nullptr;
}

}  // namespace

std::vector<Accumulator> AccumulatorsOf(const FunctionAnalysis& analysis, const Node& loop) {
  std::vector<Accumulator> found;
  for (const auto& [symbol, info] : analysis.variables()) {
    if (info.declaration == nullptr || Contains(loop, *info.declaration)) continue;
    if (info.type.find('*') != std::string::npos || info.type.find('[') != std::string::npos) continue;
    std::optional<Update> update;
    const Node* at = nullptr;
    bool only_updates = true;
    for (const Node* use : info.uses) {
      if (!Contains(loop, *use)) continue;
      // The statement that contains this use.
      const Node* assignment = use->parent;
      while (assignment != nullptr && assignment != &loop && !assignment->Is(NodeKind::kAssign) &&
             !assignment->Is(NodeKind::kIf) && !assignment->Is(NodeKind::kBlock))
        assignment = assignment->parent;
      if (assignment == nullptr) continue;
      auto candidate = FromAssignment(*assignment, symbol);
      const Node* node = assignment;
      if (!candidate && assignment->Is(NodeKind::kAssign)) {
        const Node* branch = assignment->parent;
        while (branch != nullptr && branch->Is(NodeKind::kBlock) && branch->size() == 1) branch = branch->parent;
        if (branch != nullptr) candidate = FromComparison(*branch, symbol);
        node = branch;
      } else if (!candidate) {
        candidate = FromComparison(*assignment, symbol);
      }
      only_updates &= candidate && InnermostLoop(*node) == &loop && (at == nullptr || at == node);
      if (!only_updates) break;
      update = candidate;
      at = node;
    }
    if (only_updates && update)
      found.push_back({.kind = update->kind,
                       .symbol = symbol,
                       .name = info.name,
                       .type = info.type,
                       .update = at,
                       .value = update->value});
  }
  return found;
}

}  // namespace warpwright::source
