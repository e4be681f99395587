#include "lift/point_evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/real_function.h"
#include "lift/canonical.h"
#include "lift/evaluate.h"
#include "lift/evaluate_float.h"

namespace warpwright::lift {
namespace {

using core::Function;
using sim::Type;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDoubleRoundoff = 0x1p-53;
// Of what was computed from concrete numbers before it became a literal, in roundings.
constexpr double kLiteralRoundings = 4;
// The approximate instructions (ex2, lg2, sin, ...) are good to about two units, sin and cos absolutely to 2^-20.
constexpr double kApproximateRoundings = 8, kAbsoluteOfSine = 0x1p-20;

bool IsUnsettled(const PointValue& v) { return !std::isfinite(v.rounding) || !std::isfinite(v.literal); }

void Unsettle(PointValue& v) { v.literal = v.rounding = kInfinity; }

// What is representable in few bits is meant as it stands.
double LiteralError(Type type, double value) {
  if (!std::isfinite(value) || value == 0) return 0;
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(value, &exponent), 12);
  if (scaled == std::trunc(scaled) || (value == std::trunc(value) && std::fabs(value) < 0x1p24)) return 0;
  return kLiteralRoundings * UnitRoundoff(type) * std::fabs(value);
}

// The least result that is rounded relatively.
double Subnormal(const Expr& e) {
  if (e.type == Type::kF16) return 0x1p-25;
  if (e.type == Type::kF64) return 0;
  return e.flush ? 0x1p-126 : 0x1p-150;
}

bool IsDirected(const Expr& e) {
  if (e.op == ExprOp::kMin || e.op == ExprOp::kMax || e.op == ExprOp::kCall) return false;
  const auto rounding = static_cast<sim::Rounding>(e.mode);
  return rounding == sim::Rounding::kZero || rounding == sim::Rounding::kDown || rounding == sim::Rounding::kUp;
}

void Round(const Expr& e, PointValue& v, double roundings) {
  if (std::isinf(v.real)) return;  // of an infinite literal: exact
  const double size = std::fabs(v.real) + v.rounding;
  v.rounding += roundings * (IsDirected(e) ? 2 : 1) * UnitRoundoff(e.type) * size + Subnormal(e);
  v.literal += kDoubleRoundoff * std::fabs(v.real);
}

bool IsTrue(const PointValue& v) { return (v.bits & 1) != 0; }

}  // namespace

double UnitRoundoff(Type type) {
  switch (type) {
    case Type::kF16: return 0x1p-11;
    case Type::kBf16: return 0x1p-8;
    case Type::kF32: return 0x1p-24;
    default: return kDoubleRoundoff;
  }
}

PointEvaluation::PointEvaluation(const Graph& graph, std::span<const ExprId> roots)
    : graph_(graph), place_(graph.size(), 0) {
  for (const ExprId root : roots) place_[root] = 1;
  for (ExprId id = graph.size(); id-- > 1;)
    if (place_[id] != 0)
      for (const ExprId arg : graph[id].arguments()) place_[arg] = 1;
  for (ExprId id = 1; id < graph.size(); ++id) {
    if (place_[id] == 0) continue;
    place_[id] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(id);
  }
  values_.resize(nodes_.size());
}

void PointEvaluation::Run(const Load& load) {
  for (size_t i = 0; i < nodes_.size(); ++i) values_[i] = Evaluate(graph_[nodes_[i]], load);
}

// An argument as a number of this type. Bits of a rounded number that are read as another type say nothing about real
// numbers.
PointValue PointEvaluation::As(Type type, const Expr& e, size_t k) const {
  PointValue v = Argument(e, k);
  const Type own = graph_[e.args[k]].type;
  if (own == type || (!sim::IsFloat(own) && !sim::IsFloat(type))) return v;
  v.real = ConstantValue(type, v.bits);
  if (v.rounding > 0 || v.literal > 0) Unsettle(v);
  return v;
}

PointValue PointEvaluation::Evaluate(const Expr& e, const Load& load) const {
  PointValue v;
  switch (e.op) {
    case ExprOp::kConst:
    case ExprOp::kScalar:
      v.bits = e.payload;
      v.real = ConstantValue(e.type, v.bits);
      if (e.op == ExprOp::kConst && sim::IsFloat(e.type)) v.literal = v.rounding = LiteralError(e.type, v.real);
      return v;
    case ExprOp::kLoad:
      v.bits = load(e.buffer, e.payload);
      v.real = ConstantValue(e.type, v.bits);
      return v;
    case ExprOp::kGather:
      v.bits = load(e.buffer, Argument(e, 0).bits);
      v.real = ConstantValue(e.type, v.bits);
      if (IsUnsettled(Argument(e, 0))) Unsettle(v);
      return v;
    default: break;
  }
  uint64_t args[3] = {};
  for (size_t k = 0; k < e.arity; ++k) args[k] = Argument(e, k).bits;
  v.bits = EvaluateNode(graph_, e, args);
  if (e.op == ExprOp::kSelect) {
    Choose(e, v);
  } else if (e.type == Type::kPred) {
    Decide(e, v);
  } else if (e.op == ExprOp::kConvert) {
    Convert(e, v);
  } else if (sim::IsFloat(e.type) && e.op < ExprOp::kIntAdd) {
    Arithmetic(e, v);
  } else {  // integers, and bits of numbers
    v.real = ConstantValue(e.type, v.bits);
    for (size_t k = 0; k < e.arity; ++k) {
      const PointValue& arg = Argument(e, k);
      if (arg.rounding > 0 || arg.literal > 0) Unsettle(v);
    }
  }
  if (std::isnan(v.literal)) v.literal = kInfinity;
  if (std::isnan(v.rounding)) v.rounding = kInfinity;
  return v;
}

void PointEvaluation::Arithmetic(const Expr& e, PointValue& v) const {
  const PointValue a = As(e.type, e, 0);
  const PointValue b = e.arity > 1 ? As(e.type, e, 1) : PointValue{};
  const auto product = [&] {
    v.real = a.real * b.real;
    v.literal = std::fabs(a.real) * b.literal + std::fabs(b.real) * a.literal + a.literal * b.literal;
    v.rounding = std::fabs(a.real) * b.rounding + std::fabs(b.real) * a.rounding + a.rounding * b.rounding;
  };
  const auto add = [&v](const PointValue& term, double sign) {
    v.real += sign * term.real;
    v.literal += term.literal;
    v.rounding += term.rounding;
  };
  const auto quotient = [](double q, double x_error, double y, double y_error) {
    const double least = std::fabs(y) - y_error;
    return least > 0 ? (x_error + std::fabs(q) * y_error) / least : kInfinity;
  };
  switch (e.op) {
    case ExprOp::kAdd: add(a, 1), add(b, 1); break;
    case ExprOp::kSub: add(a, 1), add(b, -1); break;
    case ExprOp::kMul: product(); break;
    case ExprOp::kFma:
      product();
      // A tensor core aligns the terms of an instruction to the largest of them, and cuts each off 25 bits below.
      if (e.approx && !e.flush)
        v.rounding += 16 * 0x1p-25 * std::fabs(v.real) + 4 * 0x1p-25 * std::fabs(As(e.type, e, 2).real);
      add(As(e.type, e, 2), 1);
      break;
    case ExprOp::kDiv:
      v.real = a.real / b.real;
      v.literal = quotient(v.real, a.literal, b.real, b.literal);
      v.rounding = quotient(v.real, a.rounding, b.real, b.rounding);
      return Round(e, v, e.approx ? 4 : 1);
    case ExprOp::kRcp:
      v.real = 1 / a.real;
      v.literal = quotient(v.real, 0, a.real, a.literal);
      v.rounding = quotient(v.real, 0, a.real, a.rounding);
      return Round(e, v, e.approx ? 3 : 1);
    case ExprOp::kMin:
    case ExprOp::kMax: {
      const bool first = (a.real < b.real) == (e.op == ExprOp::kMin) || b.real != b.real;
      v.real = first && a.real == a.real ? a.real : b.real;
      v.literal = std::max(a.literal, b.literal);
      v.rounding = std::max(a.rounding, b.rounding);
      return;
    }
    case ExprOp::kNeg: v = {v.bits, -a.real, a.literal, a.rounding}; return;
    case ExprOp::kAbs: v = {v.bits, std::fabs(a.real), a.literal, a.rounding}; return;
    case ExprOp::kCopysign:
      v = {v.bits, std::copysign(b.real, a.real), b.literal, b.rounding};
      if (std::fabs(a.real) < a.rounding) Unsettle(v);
      return;
    case ExprOp::kSqrt: Call(Function::kSqrt, e, v); return Round(e, v, e.approx ? 4 : 1);
    case ExprOp::kRsqrt: Call(Function::kRsqrt, e, v); return Round(e, v, kApproximateRoundings);
    case ExprOp::kEx2: Call(Function::kExp2, e, v); return Round(e, v, kApproximateRoundings);
    case ExprOp::kLg2: Call(Function::kLog2, e, v); return Round(e, v, kApproximateRoundings);
    case ExprOp::kTanh: Call(Function::kTanh, e, v); return Round(e, v, 0x1p14);  // tanh.approx: 2^-11
    case ExprOp::kSin:
    case ExprOp::kCos:
      Call(e.op == ExprOp::kSin ? Function::kSin : Function::kCos, e, v);
      v.rounding += kAbsoluteOfSine;
      return;
    case ExprOp::kCall: {
      const auto function = static_cast<Function>(e.mode);
      Call(function, e, v);
      return Round(e, v, e.type == Type::kF64 ? 4 : 1 + 2 * core::UlpsOf(function));
    }
    default: return Unsettle(v);
  }
  Round(e, v, 1);
}

void PointEvaluation::Call(Function function, const Expr& e, PointValue& v) const {
  const PointValue a = As(e.type, e, 0);
  if (e.arity == 2) {
    const PointValue b = As(e.type, e, 1);
    v.real = core::Apply(function, a.real, b.real);
    v.literal = core::Spread(function, a.real, b.real, a.literal, b.literal);
    v.rounding = core::Spread(function, a.real, b.real, a.rounding, b.rounding);
    return;
  }
  v.real = core::Apply(function, a.real);
  if (std::isinf(a.real)) return;  // its limit
  v.literal = a.literal == 0 ? 0 : core::Spread(function, a.real, a.literal);
  v.rounding = a.rounding == 0 ? 0 : core::Spread(function, a.real, a.rounding);
}

void PointEvaluation::Convert(const Expr& e, PointValue& v) const {
  const PointValue a = As(e.from, e, 0);
  const auto mode = static_cast<sim::Rounding>(e.mode);
  const bool whole = mode >= sim::Rounding::kIntNearest || !sim::IsFloat(e.type);
  v.real = a.real;
  v.literal = a.literal;
  v.rounding = a.rounding;
  if (sim::IsFloat(e.from) && whole) {
    const auto integer = [mode](double x) {
      switch (mode) {
        case sim::Rounding::kIntNearest: return std::nearbyint(x);
        case sim::Rounding::kIntDown: return std::floor(x);
        case sim::Rounding::kIntUp: return std::ceil(x);
        default: return std::trunc(x);
      }
    };
    const double error = std::max(a.rounding, a.literal);
    v.real = sim::IsFloat(e.type) ? integer(a.real) : ConstantValue(e.type, v.bits);
    if (integer(a.real - error) != integer(a.real + error)) return Unsettle(v);
    v.literal = v.rounding = 0;
    return;
  }
  if (!sim::IsFloat(e.type)) {
    v.real = ConstantValue(e.type, v.bits);
    return;
  }
  // A wider format holds every number of the narrower one.
  const bool exact = sim::IsFloat(e.from) && UnitRoundoff(e.type) <= UnitRoundoff(e.from) && e.type != Type::kF16;
  const bool small_integer = !sim::IsFloat(e.from) && std::fabs(a.real) * UnitRoundoff(e.type) < 0.5;
  if (!exact && !small_integer) Round(e, v, 1);
}

void PointEvaluation::Decide(const Expr& e, PointValue& v) const {
  v.real = IsTrue(v) ? 1 : 0;
  if (e.op == ExprOp::kCompare) {
    const PointValue a = As(e.from, e, 0), b = As(e.from, e, 1);
    if (IsUnsettled(a) || IsUnsettled(b)) return Unsettle(v);
    const double errors = std::max(a.rounding + b.rounding, a.literal + b.literal);
    if (sim::IsFloat(e.from) && errors > 0 && std::fabs(a.real - b.real) <= errors) Unsettle(v);
    return;
  }
  const PointValue& a = Argument(e, 0);
  if (e.op == ExprOp::kAnd || e.op == ExprOp::kOr) {
    const PointValue& b = Argument(e, 1);
    // One side may settle it alone.
    const bool settling = e.op == ExprOp::kOr;
    const bool settled = (!IsUnsettled(a) && IsTrue(a) == settling) || (!IsUnsettled(b) && IsTrue(b) == settling);
    if (!settled && (IsUnsettled(a) || IsUnsettled(b))) Unsettle(v);
    return;
  }
  for (size_t k = 0; k < e.arity; ++k)
    if (IsUnsettled(Argument(e, k))) Unsettle(v);
}

// Where the condition is not settled, it may be either side.
void PointEvaluation::Choose(const Expr& e, PointValue& v) const {
  const PointValue &condition = Argument(e, 0), then = As(e.type, e, 1), otherwise = As(e.type, e, 2);
  const PointValue& chosen = IsTrue(condition) ? then : otherwise;
  v = {v.bits, chosen.real, chosen.literal, chosen.rounding};
  if (!IsUnsettled(condition)) return;
  const double apart = std::fabs(then.real - otherwise.real);
  if (!sim::IsFloat(e.type) && apart > 0) return Unsettle(v);
  v.literal = apart + std::max(then.literal, otherwise.literal);
  v.rounding = apart + std::max(then.rounding, otherwise.rounding);
}

}  // namespace warpwright::lift
