#include "rewrite/row_parallel_update.h"

#include <map>
#include <set>

namespace warpwright::rewrite {
namespace {

bool IsName(const source::Node& node, const std::string& symbol) {
  const source::Node& plain = source::StripCasts(node);
  return plain.Is(source::NodeKind::kName) && plain.symbol == symbol;
}

bool IsMaxCall(const source::Node& node) {
  static const std::set<std::string> kNames = {"max", "fmax", "fmaxf", "__hmax", "std::max"};
  return node.Is(source::NodeKind::kCall) && node.size() == 2 && kNames.contains(node.name);
}
bool IsMinCall(const source::Node& node) {
  static const std::set<std::string> kNames = {"min", "fmin", "fminf", "__hmin", "std::min"};
  return node.Is(source::NodeKind::kCall) && node.size() == 2 && kNames.contains(node.name);
}

// `x > e`, as seen with x on the right: e < x gives ">" for (e, x). Nothing if x is not one of the sides.
struct Comparison {
  const source::Node* other = nullptr;  // the side that is not the variable
  const source::Node* use = nullptr;
  bool variable_smaller = false, inclusive = false;  // other > x, other >= x
};
std::optional<Comparison> CompareWith(const source::Node& condition, const std::string& symbol) {
  if (!condition.Is(source::NodeKind::kBinary) || condition.size() != 2) return std::nullopt;
  const std::string& op = condition.name;
  if (op != "<" && op != ">" && op != "<=" && op != ">=") return std::nullopt;
  const bool left = IsName(condition[0], symbol), right = IsName(condition[1], symbol);
  if (left == right) return std::nullopt;
  Comparison result;
  result.other = &condition[left ? 1 : 0];
  result.use = &source::StripCasts(condition[left ? 0 : 1]);
  if (MentionsSymbol(*result.other, symbol)) return std::nullopt;
  result.variable_smaller = left == (op[0] == '<');
  result.inclusive = op.size() == 2;
  return result;
}

class UpdateMatcher {
 public:
  UpdateMatcher(const source::SyntaxFunction& kernel, const std::string& symbol) : kernel_(kernel), symbol_(symbol) {}

  // `node` as an update, if it is one.
  std::optional<ReductionUpdate> Match(const source::Node& node) const {
    if (node.Is(source::NodeKind::kIf)) return MatchIf(node);
    if (!node.Is(source::NodeKind::kAssign) || !IsName(node[0], symbol_)) return std::nullopt;
    ReductionUpdate update{.kind = ReductionKind::kSum, .statement = &node, .own_uses = {&node[0]}};
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
  std::optional<ReductionUpdate> MatchValue(ReductionUpdate update, const source::Node& value) const {
    const source::Node& expression = source::StripCasts(value);
    if (expression.Is(source::NodeKind::kConditional)) return MatchConditional(update, expression);
    static const std::set<std::string> kFused = {"fma", "fmaf", "__fmaf_rn", "__fma_rn"};
    if (expression.Is(source::NodeKind::kCall) && expression.size() == 3 && kFused.contains(expression.name)) {
      if (!IsName(expression[2], symbol_) || MentionsSymbol(expression[0], symbol_) ||
          MentionsSymbol(expression[1], symbol_))
        return std::nullopt;
      update.own_uses.push_back(&source::StripCasts(expression[2]));
      return update;
    }
    static const std::map<std::string, ReductionKind> kOperators = {
        {"+", ReductionKind::kSum},    {"-", ReductionKind::kSum},   {"*", ReductionKind::kProduct},
        {"&", ReductionKind::kBitAnd}, {"|", ReductionKind::kBitOr}, {"^", ReductionKind::kBitXor},
        {"&&", ReductionKind::kAnd},   {"||", ReductionKind::kOr}};
    const auto kind_of = [&](const source::Node& node) -> std::optional<ReductionKind> {
      if (IsMaxCall(node)) return ReductionKind::kMax;
      if (IsMinCall(node)) return ReductionKind::kMin;
      if (!node.Is(source::NodeKind::kBinary) || node.size() != 2) return std::nullopt;
      const auto found = kOperators.find(node.name);
      return found == kOperators.end() ? std::nullopt : std::optional(found->second);
    };
    const auto kind = kind_of(expression);
    if (!kind) return std::nullopt;
    update.kind = *kind;
    // Descends to the variable through the same operation; the other operands must not use it.
    const source::Node* node = &expression;
    while (!IsName(*node, symbol_)) {
      node = &source::StripCasts(*node);
      if (kind_of(*node) != kind) return std::nullopt;
      const bool in_left = MentionsSymbol((*node)[0], symbol_), in_right = MentionsSymbol((*node)[1], symbol_);
      if (in_left == in_right || (in_right && node->name == "-")) return std::nullopt;
      node = &(*node)[in_left ? 0 : 1];
    }
    update.own_uses.push_back(&source::StripCasts(*node));
    return update;
  }

  // e > x ? e : x and its seven variants.
  std::optional<ReductionUpdate> MatchConditional(ReductionUpdate update, const source::Node& value) const {
    const auto comparison = CompareWith(value[0], symbol_);
    if (!comparison) return std::nullopt;
    const bool keeps_in_else = IsName(value[2], symbol_);
    const source::Node& taken = value[keeps_in_else ? 1 : 2];
    const source::Node& kept = value[keeps_in_else ? 2 : 1];
    if (!IsName(kept, symbol_) ||
        !SameExpression(kernel_, source::StripCasts(taken), source::StripCasts(*comparison->other)))
      return std::nullopt;
    update.kind = comparison->variable_smaller == keeps_in_else ? ReductionKind::kMax : ReductionKind::kMin;
    update.own_uses.push_back(comparison->use);
    update.own_uses.push_back(&source::StripCasts(kept));
    return update;
  }

  // if (e > x) x = e;   if (valid && e > x) { x = e; index = c; }
  std::optional<ReductionUpdate> MatchIf(const source::Node& node) const {
    if (!node[source::kIfElse].Is(source::NodeKind::kEmpty)) return std::nullopt;
    std::optional<Comparison> comparison;
    std::vector<const source::Node*> conditions = {&node[source::kIfCondition]};
    while (!conditions.empty()) {
      const source::Node* condition = conditions.back();
      conditions.pop_back();
      if (condition->Is(source::NodeKind::kBinary, "&&")) {
        conditions.push_back(&(*condition)[0]);
        conditions.push_back(&(*condition)[1]);
      } else if (MentionsSymbol(*condition, symbol_)) {
        if (comparison) return std::nullopt;
        comparison = CompareWith(*condition, symbol_);
        if (!comparison) return std::nullopt;
      }
    }
    if (!comparison) return std::nullopt;
    const source::Node& then = node[source::kIfThen];
    std::vector<const source::Node*> statements;
    if (then.Is(source::NodeKind::kBlock)) {
      for (const auto& child : then.children) statements.push_back(child.get());
    } else {
      statements.push_back(&then);
    }
    ReductionUpdate update{.kind = comparison->variable_smaller ? ReductionKind::kMax : ReductionKind::kMin,
                           .statement = &node,
                           .own_uses = {comparison->use}};
    bool assigned = false;
    for (const source::Node* statement : statements) {
      if (!statement->Is(source::NodeKind::kAssign, "=")) return std::nullopt;
      if (IsName((*statement)[0], symbol_)) {
        if (assigned ||
            !SameExpression(kernel_, source::StripCasts((*statement)[1]), source::StripCasts(*comparison->other)))
          return std::nullopt;
        update.own_uses.push_back(&(*statement)[0]);
        assigned = true;
      } else if ((*statement)[0].Is(source::NodeKind::kName) && update.index_assignment == nullptr &&
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

  const source::SyntaxFunction& kernel_;
  const std::string& symbol_;
};

}  // namespace

std::optional<ReductionUpdate> MatchReductionUpdate(const source::SyntaxFunction& kernel, const std::string& symbol,
                                                    const source::Node& node) {
  return UpdateMatcher(kernel, symbol).Match(node);
}

}  // namespace warpwright::rewrite
