#include "rewrite/row_parallel_update.h"

#include <map>
#include <set>

namespace warpwright {
namespace {

bool IsName(const Node& node, const std::string& symbol) {
  const Node& plain = StripCasts(node);
  return plain.Is(NodeKind::kName) && plain.symbol == symbol;
}

bool IsMaxCall(const Node& node) {
  static const std::set<std::string> kNames = {"max", "fmax", "fmaxf", "__hmax", "std::max"};
  return node.Is(NodeKind::kCall) && node.size() == 2 && kNames.contains(node.name);
}
bool IsMinCall(const Node& node) {
  static const std::set<std::string> kNames = {"min", "fmin", "fminf", "__hmin", "std::min"};
  return node.Is(NodeKind::kCall) && node.size() == 2 && kNames.contains(node.name);
}

// `x > e`, as seen with x on the right: e < x gives ">" for (e, x). Nothing where x is not one of the sides.
struct Comparison {
  const Node* other = nullptr;  // the side that is not the variable
  const Node* use = nullptr;
  bool variable_smaller = false, inclusive = false;  // other > x, other >= x
};
std::optional<Comparison> CompareWith(const Node& condition, const std::string& symbol) {
  if (!condition.Is(NodeKind::kBinary) || condition.size() != 2) return std::nullopt;
  const std::string& op = condition.name;
  if (op != "<" && op != ">" && op != "<=" && op != ">=") return std::nullopt;
  const bool left = IsName(condition[0], symbol), right = IsName(condition[1], symbol);
  if (left == right) return std::nullopt;
  Comparison result;
  result.other = &condition[left ? 1 : 0];
  result.use = &StripCasts(condition[left ? 0 : 1]);
  if (MentionsSymbol(*result.other, symbol)) return std::nullopt;
  result.variable_smaller = left == (op[0] == '<');
  result.inclusive = op.size() == 2;
  return result;
}

class UpdateMatcher {
 public:
  UpdateMatcher(const SyntaxFunction& kernel, const std::string& symbol) : kernel_(kernel), symbol_(symbol) {}

  // The update that `node` is, if it is one.
  std::optional<ReductionUpdate> Match(const Node& node) const {
    if (node.Is(NodeKind::kIf)) return MatchIf(node);
    if (!node.Is(NodeKind::kAssign) || !IsName(node[0], symbol_)) return std::nullopt;
    ReductionUpdate update{ReductionKind::kSum, &node, {&node[0]}, nullptr, false};
    if (node.name == "++" || node.name == "--") return update;
    if (node.size() != 2) return std::nullopt;
    if (node.name == "=") return MatchValue(update, node[1]);
    static const std::map<std::string, ReductionKind> kCompound = {
        {"+=", ReductionKind::kSum},    {"-=", ReductionKind::kSum},   {"*=", ReductionKind::kProduct},
        {"&=", ReductionKind::kBitAnd}, {"|=", ReductionKind::kBitOr}, {"^=", ReductionKind::kBitXor}};
    const auto found = kCompound.find(node.name);
    if (found == kCompound.end() || MentionsSymbol(node[1], symbol_)) return std::nullopt;
    update.kind = found->second;
    return update;
  }

 private:
  // x = x + a + b, x = e * x, x = fmaxf(fmaxf(x, a), b), x = fmaf(a, b, x), x = e > x ? e : x.
  std::optional<ReductionUpdate> MatchValue(ReductionUpdate update, const Node& value) const {
    const Node& expression = StripCasts(value);
    if (expression.Is(NodeKind::kConditional)) return MatchConditional(update, expression);
    static const std::set<std::string> kFused = {"fma", "fmaf", "__fmaf_rn", "__fma_rn"};
    if (expression.Is(NodeKind::kCall) && expression.size() == 3 && kFused.contains(expression.name)) {
      if (!IsName(expression[2], symbol_) || MentionsSymbol(expression[0], symbol_) ||
          MentionsSymbol(expression[1], symbol_))
        return std::nullopt;
      update.own_uses.push_back(&StripCasts(expression[2]));
      return update;
    }
    static const std::map<std::string, ReductionKind> kOperators = {
        {"+", ReductionKind::kSum},    {"-", ReductionKind::kSum},   {"*", ReductionKind::kProduct},
        {"&", ReductionKind::kBitAnd}, {"|", ReductionKind::kBitOr}, {"^", ReductionKind::kBitXor},
        {"&&", ReductionKind::kAnd},   {"||", ReductionKind::kOr}};
    const auto kind_of = [&](const Node& node) -> std::optional<ReductionKind> {
      if (IsMaxCall(node)) return ReductionKind::kMax;
      if (IsMinCall(node)) return ReductionKind::kMin;
      if (!node.Is(NodeKind::kBinary) || node.size() != 2) return std::nullopt;
      const auto found = kOperators.find(node.name);
      return found == kOperators.end() ? std::nullopt : std::optional(found->second);
    };
    const auto kind = kind_of(expression);
    if (!kind) return std::nullopt;
    update.kind = *kind;
    // Down to the variable, through the same operation; what stands beside must not use it.
    const Node* node = &expression;
    while (!IsName(*node, symbol_)) {
      node = &StripCasts(*node);
      if (kind_of(*node) != kind) return std::nullopt;
      const bool in_left = MentionsSymbol((*node)[0], symbol_), in_right = MentionsSymbol((*node)[1], symbol_);
      if (in_left == in_right || (in_right && node->name == "-")) return std::nullopt;
      node = &(*node)[in_left ? 0 : 1];
    }
    update.own_uses.push_back(&StripCasts(*node));
    return update;
  }

  // e > x ? e : x and its seven relatives.
  std::optional<ReductionUpdate> MatchConditional(ReductionUpdate update, const Node& value) const {
    const auto comparison = CompareWith(value[0], symbol_);
    if (!comparison) return std::nullopt;
    const bool keeps_in_else = IsName(value[2], symbol_);
    const Node& taken = value[keeps_in_else ? 1 : 2];
    const Node& kept = value[keeps_in_else ? 2 : 1];
    if (!IsName(kept, symbol_) || !SameExpression(kernel_, StripCasts(taken), StripCasts(*comparison->other)))
      return std::nullopt;
    update.kind = comparison->variable_smaller == keeps_in_else ? ReductionKind::kMax : ReductionKind::kMin;
    update.own_uses.push_back(comparison->use);
    update.own_uses.push_back(&StripCasts(kept));
    return update;
  }

  // if (e > x) x = e;   if (valid && e > x) { x = e; index = c; }
  std::optional<ReductionUpdate> MatchIf(const Node& node) const {
    if (!node[kIfElse].Is(NodeKind::kEmpty)) return std::nullopt;
    std::optional<Comparison> comparison;
    std::vector<const Node*> conditions = {&node[kIfCondition]};
    while (!conditions.empty()) {
      const Node* condition = conditions.back();
      conditions.pop_back();
      if (condition->Is(NodeKind::kBinary, "&&")) {
        conditions.push_back(&(*condition)[0]);
        conditions.push_back(&(*condition)[1]);
      } else if (MentionsSymbol(*condition, symbol_)) {
        if (comparison || !(comparison = CompareWith(*condition, symbol_))) return std::nullopt;
      }
    }
    if (!comparison) return std::nullopt;
    const Node& then = node[kIfThen];
    std::vector<const Node*> statements;
    if (then.Is(NodeKind::kBlock)) {
      for (const auto& child : then.children) statements.push_back(child.get());
    } else {
      statements.push_back(&then);
    }
    ReductionUpdate update{comparison->variable_smaller ? ReductionKind::kMax : ReductionKind::kMin,
                           &node,
                           {comparison->use},
                           nullptr,
                           false};
    bool assigned = false;
    for (const Node* statement : statements) {
      if (!statement->Is(NodeKind::kAssign, "=")) return std::nullopt;
      if (IsName((*statement)[0], symbol_)) {
        if (assigned || !SameExpression(kernel_, StripCasts((*statement)[1]), StripCasts(*comparison->other)))
          return std::nullopt;
        update.own_uses.push_back(&(*statement)[0]);
        assigned = true;
      } else if ((*statement)[0].Is(NodeKind::kName) && update.index_assignment == nullptr &&
                 !MentionsSymbol((*statement)[1], symbol_)) {
        update.index_assignment = statement;
      } else {
        return std::nullopt;
      }
    }
    if (!assigned) return std::nullopt;
    if (update.index_assignment != nullptr) {
      update.kind = update.kind == ReductionKind::kMax ? ReductionKind::kArgMax : ReductionKind::kArgMin;
      update.last_wins = comparison->inclusive;
    }
    return update;
  }

  const SyntaxFunction& kernel_;
  const std::string& symbol_;
};

}  // namespace

std::optional<ReductionUpdate> MatchReductionUpdate(const SyntaxFunction& kernel, const std::string& symbol,
                                                    const Node& node) {
  return UpdateMatcher(kernel, symbol).Match(node);
}

}  // namespace warpwright
