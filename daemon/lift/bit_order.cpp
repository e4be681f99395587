#include "lift/bit_order.h"

#include <algorithm>

#include "lift/canonical.h"

namespace warpwright::lift {

void BitOrder::Look(const std::vector<bool>& nodes) {
  holds_float_.assign(nodes.size(), false);
  signs_.assign(nodes.size(), Sign::kUnknown);
  for (ExprId id = 1; id < nodes.size(); ++id) {
    if (!nodes[id]) continue;
    holds_float_[id] = FindFloat(graph_[id]);
    signs_[id] = FindSign(graph_[id]);
  }
}

bool BitOrder::FindFloat(const Expr& expr) const {
  if (sim::IsFloat(expr.type)) return expr.op != ExprOp::kConst;
  if (expr.op == ExprOp::kSelect) return holds_float_[expr.args[1]] || holds_float_[expr.args[2]];
  const bool extremum = expr.op == ExprOp::kMax || expr.op == ExprOp::kMin;
  return extremum && (holds_float_[expr.args[0]] || holds_float_[expr.args[1]]);
}

Sign BitOrder::FindSign(const Expr& expr) const {
  const auto arg = [&](size_t k) { return signs_[expr.args[k]]; };
  switch (expr.op) {
    case ExprOp::kConst:
      return (expr.payload >> (Width(expr.type) - 1) & 1) != 0 ? Sign::kNegative : Sign::kNotNegative;
    case ExprOp::kAbs:
    case ExprOp::kEx2:
    case ExprOp::kSqrt: return Sign::kNotNegative;
    case ExprOp::kMul: return expr.args[0] == expr.args[1] ? Sign::kNotNegative : Sign::kUnknown;
    case ExprOp::kConvert: return sim::IsFloat(expr.from) && sim::IsFloat(expr.type) ? arg(0) : Sign::kUnknown;
    case ExprOp::kSelect: return arg(1) == arg(2) ? arg(1) : Sign::kUnknown;
    case ExprOp::kMin:
    case ExprOp::kMax: {
      if (arg(0) == arg(1)) return arg(0);
      const bool unsigned_bits = IsIntegerType(expr.type) && !sim::IsSigned(expr.type);
      const Sign wins = (expr.op == ExprOp::kMax) != unsigned_bits ? Sign::kNotNegative : Sign::kNegative;
      return arg(0) == wins || arg(1) == wins ? wins : Sign::kUnknown;
    }
    default: return Sign::kUnknown;
  }
}

Sign BitOrder::SignWhere(ExprId id, ExprId condition, bool holds) const {
  const Expr& expr = graph_[condition];
  const bool of_signs = expr.op == ExprOp::kCompare && (sim::IsFloat(expr.from) || sim::IsSigned(expr.from));
  if (!of_signs) return signs_[id];
  const auto is_zero = [&](ExprId arg) {
    return graph_[arg].op == ExprOp::kConst && ConstantValue(expr.from, graph_[arg].payload) == 0;
  };
  const bool left = expr.args[0] == id && is_zero(expr.args[1]);  // id is compared with 0, not 0 with it
  if (!left && (expr.args[1] != id || !is_zero(expr.args[0]))) return signs_[id];
  const auto mode = static_cast<sim::Compare>(expr.mode);
  const bool at_least = mode == sim::Compare::kGe || mode == sim::Compare::kGeu;
  const bool at_most = mode == sim::Compare::kLe || mode == sim::Compare::kLeu;
  const bool less = mode == sim::Compare::kLt || mode == sim::Compare::kLtu;
  const bool greater = mode == sim::Compare::kGt || mode == sim::Compare::kGtu;
  if (left ? at_least : at_most) return holds ? Sign::kNotNegative : Sign::kNegative;
  if (left ? less : greater) return holds ? Sign::kNegative : Sign::kNotNegative;
  return signs_[id];
}

bool BitOrder::IsNumeric(const Expr& compare) const {
  const auto mode = static_cast<sim::Compare>(compare.mode);
  const bool order = mode != sim::Compare::kEq && mode != sim::Compare::kNe;
  const ExprId a = compare.args[0], b = compare.args[1];
  if (!order || !IsIntegerType(compare.from) || !(holds_float_[a] || holds_float_[b])) return true;
  const auto is_zero = [&](ExprId id) { return graph_[id].op == ExprOp::kConst && graph_[id].payload == 0; };
  if (sim::IsSigned(compare.from) && (is_zero(a) || is_zero(b))) return true;
  return signs_[a] == Sign::kNotNegative && signs_[b] == Sign::kNotNegative;
}

std::optional<bool> BitOrder::TakesGreatest(const Expr& extremum, std::span<const Sign> signs) {
  const auto count = [&](Sign sign) { return static_cast<size_t>(std::count(signs.begin(), signs.end(), sign)); };
  const bool greatest = extremum.op == ExprOp::kMax;
  if (count(Sign::kNotNegative) == signs.size()) return greatest;
  if (sim::IsSigned(extremum.type) && count(Sign::kNotNegative) + 1 >= signs.size()) return greatest;
  if (!sim::IsSigned(extremum.type) && count(Sign::kNegative) + 1 >= signs.size()) return !greatest;
  return std::nullopt;
}

}  // namespace warpwright::lift
