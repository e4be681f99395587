#include "lift/narrow_format.h"

namespace warpwright::lift {
namespace {

using sim::Type;

bool IsNarrow(Type type) { return type == Type::kF16 || type == Type::kBf16; }

// Whether the value was rounded to a narrow format here; the sign, or the larger of two, is exact.
bool RoundsNarrowly(const Expr& expr) {
  if (!IsNarrow(expr.type)) return false;
  switch (expr.op) {
    case ExprOp::kConvert: return expr.from == Type::kF32 || expr.from == Type::kF64;
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kFma:
    case ExprOp::kDiv:
    case ExprOp::kRcp:
    case ExprOp::kSqrt:
    case ExprOp::kRsqrt:
    case ExprOp::kEx2:
    case ExprOp::kLg2:
    case ExprOp::kSin:
    case ExprOp::kCos:
    case ExprOp::kTanh: return true;
    default: return false;
  }
}

// Pieces of a word are no computation: halves are stored side by side.
bool OnlyMoves(const Expr& expr) { return expr.op == ExprOp::kPack || expr.op == ExprOp::kExtract; }

}  // namespace

std::optional<core::DType> NarrowFormatOf(const Trace& trace) {
  const auto buffers = static_cast<uint16_t>(trace.buffers.size());
  const auto rounded_to = [&](const Expr& expr) -> std::optional<core::DType> {
    if (RoundsNarrowly(expr)) return expr.type == Type::kF16 ? core::DType::kF16 : core::DType::kBF16;
    // What an earlier launch left, where each is looked at by itself.
    const bool left = (expr.op == ExprOp::kLoad || expr.op == ExprOp::kGather) && expr.buffer >= buffers;
    if (!left || static_cast<size_t>(expr.buffer - buffers) >= trace.intermediates.size()) return std::nullopt;
    const core::DType dtype = trace.intermediates[expr.buffer - buffers].dtype;
    if (dtype != core::DType::kF16 && dtype != core::DType::kBF16) return std::nullopt;
    return dtype;
  };
  std::optional<core::DType> coarsest;
  for (ExprId id = 1; id < trace.graph.size() && coarsest != core::DType::kBF16; ++id) {
    const Expr& expr = trace.graph[id];
    if (OnlyMoves(expr)) continue;
    for (const ExprId arg : expr.arguments())
      if (const auto dtype = rounded_to(trace.graph[arg]); dtype && (!coarsest || *dtype == core::DType::kBF16))
        coarsest = dtype;
  }
  return coarsest;
}

}  // namespace warpwright::lift
