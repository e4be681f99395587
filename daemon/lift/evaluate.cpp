#include "lift/evaluate.h"

#include <bit>
#include <limits>

#include "core/computation.h"
#include "core/math_markers.h"
#include "lift/evaluate_float.h"
#include "sim/exec/math_call.h"

namespace warpwright::lift {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

uint64_t Keep(sim::Type type, uint64_t v) {
  const int width = Width(type);
  return width >= 64 ? v : v & ((1ull << width) - 1);
}
int64_t Signed(sim::Type type, uint64_t v) {
  const int up = 64 - Width(type);
  return static_cast<int64_t>(v << up) >> up;
}

uint64_t Divide(const Expr& e, uint64_t a, uint64_t b) {
  const bool quotient = e.op == ExprOp::kIntDiv;
  if (b == 0) return quotient ? UINT64_MAX : a;
  if (!sim::IsSigned(e.type)) return quotient ? a / b : a % b;
  const int64_t x = Signed(e.type, a), y = Signed(e.type, b);
  if (y == -1) return quotient ? 0 - a : 0;
  return static_cast<uint64_t>(quotient ? x / y : x % y);
}

uint64_t Integer(const Expr& e, const uint64_t* args) {
  const uint64_t a = args[0], b = args[1];
  const auto width = static_cast<uint64_t>(Width(e.type));
  const bool is_signed = sim::IsSigned(e.type);
  switch (e.op) {
    case ExprOp::kIntAdd: return a + b;
    case ExprOp::kIntSub: return a - b;
    case ExprOp::kIntMul: return a * b;
    case ExprOp::kIntMulHigh: {
      if (is_signed)
        return static_cast<uint64_t>((static_cast<Int128>(Signed(e.type, a)) * Signed(e.type, b)) >> width);
      return static_cast<uint64_t>((static_cast<Uint128>(a) * b) >> width);
    }
    case ExprOp::kIntDiv:
    case ExprOp::kIntRem: return Divide(e, a, b);
    case ExprOp::kIntAnd: return a & b;
    case ExprOp::kIntOr: return a | b;
    case ExprOp::kIntXor: return a ^ b;
    case ExprOp::kIntNot: return ~a;
    case ExprOp::kIntShl: return b >= width ? 0 : a << b;
    case ExprOp::kIntShr:
      if (is_signed) return static_cast<uint64_t>(Signed(e.type, a) >> (b >= width ? width - 1 : b));
      return b >= width ? 0 : a >> b;
    case ExprOp::kIntPopc: return static_cast<uint64_t>(std::popcount(a));
    case ExprOp::kIntClz:
      return static_cast<uint64_t>(std::countl_zero(a)) - (64 - static_cast<uint64_t>(Width(e.from)));
    case ExprOp::kNeg: return 0 - a;
    case ExprOp::kAbs: return Signed(e.type, a) < 0 ? 0 - a : a;
    case ExprOp::kMin:
    case ExprOp::kMax: {
      const bool less = is_signed ? Signed(e.type, a) < Signed(e.type, b) : a < b;
      return less == (e.op == ExprOp::kMin) ? a : b;
    }
    default: return 0;
  }
}

}  // namespace

uint64_t EvaluateNode(const Graph& graph, const Expr& e, const uint64_t* args) {
  switch (e.op) {
    case ExprOp::kConst: return e.payload;
    case ExprOp::kConvert: return EvaluateConvert(e, args[0]);
    case ExprOp::kCompare:
      return EvaluateCompare(static_cast<sim::Compare>(e.mode), e.from, e.flush, args[0], args[1]) ? 1 : 0;
    case ExprOp::kAnd: return args[0] & args[1];
    case ExprOp::kOr: return args[0] | args[1];
    case ExprOp::kXor: return args[0] ^ args[1];
    case ExprOp::kNot: return args[0] ^ 1;
    case ExprOp::kSelect: return args[0] & 1 ? args[1] : args[2];
    case ExprOp::kPack: return args[0] | args[1] << Width(graph[e.args[0]].type);
    case ExprOp::kExtract: return Keep(e.type, args[0] >> e.payload);
    case ExprOp::kCall: {
      double v[2] = {};
      for (int k = 0; k < e.arity; ++k)
        v[k] = e.type == sim::Type::kF64 ? std::bit_cast<double>(args[k])
                                         : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(args[k])));
      return sim::CallMath(static_cast<core::Function>(e.mode), e.type, v[0], v[1]);
    }
    default: break;
  }
  if (sim::IsFloat(e.type) && e.op < ExprOp::kIntAdd) return EvaluateFloat(e, args);
  return Keep(e.type, Integer(e, args));
}

Evaluation::Evaluation(const Graph& graph, LeafValues leaves)
    : graph_(graph), leaves_(std::move(leaves)), values_(graph.size()), known_(graph.size(), false) {}

uint64_t Evaluation::Value(ExprId id) const {
  const Expr& e = graph_[id];
  uint64_t args[3] = {};
  for (int k = 0; k < e.arity; ++k) args[k] = values_[e.args[static_cast<size_t>(k)]];
  switch (e.op) {
    case ExprOp::kLoad: return leaves_.load(e.buffer, e.payload);
    case ExprOp::kGather: return leaves_.load(e.buffer, args[0]);
    case ExprOp::kScalar: return leaves_.scalar(e.buffer);
    default: return EvaluateNode(graph_, e, args);
  }
}

uint64_t Evaluation::operator()(ExprId root) {
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const ExprId id = open.back();
    if (known_[id]) {
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    for (const ExprId arg : graph_[id].arguments())
      if (!known_[arg]) open.push_back(arg);
    if (open.size() != before) continue;
    values_[id] = Value(id);
    known_[id] = true;
    open.pop_back();
  }
  return values_[root];
}

}  // namespace warpwright::lift
