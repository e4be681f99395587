// Masks, sign flips and shifts: on the halves of packed registers they move halves, on a float's bits they are its
// absolute value and its negative; on integers they are what they are.
#include "lift/builder.h"

namespace warpwright::lift {
namespace {

using sim::Type;

constexpr uint64_t kSign16 = 0x8000, kAll16 = 0xffff;

uint64_t Ones(int width) { return width == 64 ? UINT64_MAX : (1ull << width) - 1; }
uint64_t SignOf(int width) { return 1ull << (width - 1); }

// Every half is kept or cleared as a whole.
bool IsWholeHalves(uint64_t mask, int width) {
  for (int at = 0; at < width; at += 16) {
    const uint64_t half = mask >> at & kAll16;
    if (half != 0 && half != kAll16) return false;
  }
  return true;
}

Type FloatType(int width) { return width == 64 ? Type::kF64 : Type::kF32; }

}  // namespace

bool Builder::IsFloatNode(ExprId id, int width) const {
  const Expr& e = graph_[id];
  return sim::IsFloat(e.type) && Width(e.type) == width;
}

bool Builder::IsPieces(ExprId id) const { return !IsIntegerType(graph_[id].type); }

ExprId Builder::WithHalves(Type type, const ExprId* halves) {
  if (Width(type) == 16) return halves[0];
  const ExprId low = Pack(halves[0], halves[1]);
  return Width(type) == 32 ? low : Pack(low, Pack(halves[2], halves[3]));
}

ExprId Builder::MaskHalf(ExprId half, uint64_t mask) {
  if (mask == kAll16) return half;
  if (mask == 0) return Const(Type::kB16, 0);
  if (mask == (kAll16 & ~kSign16) && IsFloatNode(half, 16)) return Unary(ExprOp::kAbs, graph_[half].type, half);
  return Binary(ExprOp::kIntAnd, Type::kU16, half, Const(Type::kU16, mask));
}

ExprId Builder::FlipHalf(ExprId half, uint64_t flip) {
  if (flip == 0) return half;
  if (flip == kSign16 && IsFloatNode(half, 16)) return Unary(ExprOp::kNeg, graph_[half].type, half);
  return Binary(ExprOp::kIntXor, Type::kU16, half, Const(Type::kU16, flip));
}

ExprId Builder::BitAnd(Type type, ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  const int width = Width(type);
  if (a == b) return a;
  if (!IsConst(b) || a == kConcrete) return Binary(ExprOp::kIntAnd, type, a, b);
  const uint64_t mask = graph_[b].payload;
  if (mask == 0) return Const(type, 0);
  if (mask == Ones(width)) return a;
  if (IsFloatNode(a, width) && width > 16 && mask == (Ones(width) & ~SignOf(width)))
    return Unary(ExprOp::kAbs, graph_[a].type, a);
  if (width >= 16 && IsPieces(a) && (IsWholeHalves(mask, width) || graph_[a].op == ExprOp::kPack || width == 16)) {
    ExprId halves[4];
    for (int at = 0; at < width; at += 16) halves[at / 16] = MaskHalf(Extract(a, at, 16), mask >> at & kAll16);
    return WithHalves(type, halves);
  }
  return Binary(ExprOp::kIntAnd, type, a, b);
}

ExprId Builder::BitXor(Type type, ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  const int width = Width(type);
  if (a == b && a != kConcrete) return Const(type, 0);
  if (!IsConst(b) || a == kConcrete) return Binary(ExprOp::kIntXor, type, a, b);
  const uint64_t flip = graph_[b].payload;
  if (flip == Ones(width)) return BitNot(type, a);
  if (IsFloatNode(a, width) && width > 16 && flip == SignOf(width)) return Unary(ExprOp::kNeg, graph_[a].type, a);
  if (width >= 16 && IsPieces(a) && (graph_[a].op == ExprOp::kPack || width == 16)) {
    ExprId halves[4];
    for (int at = 0; at < width; at += 16) halves[at / 16] = FlipHalf(Extract(a, at, 16), flip >> at & kAll16);
    return WithHalves(type, halves);
  }
  return Binary(ExprOp::kIntXor, type, a, b);
}

// The magnitude of one float and the sign of another.
ExprId Builder::CopySign(Type type, ExprId a, ExprId b) {
  const int width = Width(type);
  if (width < 32) return kConcrete;
  if (graph_[b].op == ExprOp::kAbs) std::swap(a, b);
  const Expr& magnitude = graph_[a];
  const Expr& sign = graph_[b];
  if (magnitude.op != ExprOp::kAbs || !IsFloatNode(a, width) || magnitude.flush) return kConcrete;
  if (sign.op != ExprOp::kIntAnd || !IsConst(sign.args[1]) || graph_[sign.args[1]].payload != SignOf(width))
    return kConcrete;
  return Binary(ExprOp::kCopysign, FloatType(width), sign.args[0], magnitude.args[0]);
}

ExprId Builder::BitOr(Type type, ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  const int width = Width(type);
  if (a == b || a == kConcrete || b == kConcrete) return a == b ? a : kConcrete;
  if (IsConst(b) && graph_[b].payload == 0) return a;
  if (const ExprId whole = CopySign(type, a, b)) return whole;
  if (width >= 32 && (graph_[a].op == ExprOp::kPack || graph_[b].op == ExprOp::kPack)) {
    // Halves of which one is zero or all ones.
    ExprId halves[4];
    bool apart = true;
    for (int at = 0; at < width && apart; at += 16) {
      ExprId x = Extract(a, at, 16), y = Extract(b, at, 16);
      if (IsConst(x)) std::swap(x, y);
      const uint64_t value = IsConst(y) ? graph_[y].payload : 1;
      if (IsConst(x)) halves[at / 16] = Const(Type::kB16, graph_[x].payload | value);
      else if (value == 0 || value == kAll16) halves[at / 16] = value == 0 ? x : y;
      else apart = false;
    }
    if (apart) return WithHalves(type, halves);
  }
  return Binary(ExprOp::kIntOr, type, a, b);
}

ExprId Builder::BitNot(Type type, ExprId a) {
  if (graph_[a].op == ExprOp::kIntNot) return graph_[a].args[0];
  return Unary(ExprOp::kIntNot, type, a);
}

ExprId Builder::ShiftLeft(Type type, ExprId a, ExprId count) {
  const int width = Width(type);
  if (!IsConst(count) || a == kConcrete) return Binary(ExprOp::kIntShl, type, a, count);
  const uint64_t n = graph_[count].payload;
  if (n == 0) return a;
  if (n >= static_cast<uint64_t>(width)) return Const(type, 0);
  const auto by = static_cast<int>(n);
  if (width >= 32 && by % 16 == 0 && IsPieces(a)) {
    ExprId halves[4];
    for (int at = 0; at < width; at += 16) halves[at / 16] = at < by ? Const(Type::kB16, 0) : Extract(a, at - by, 16);
    return WithHalves(type, halves);
  }
  return Binary(ExprOp::kIntShl, type, a, count);
}

ExprId Builder::ShiftRight(Type type, ExprId a, ExprId count) {
  const int width = Width(type);
  if (!IsConst(count) || a == kConcrete || sim::IsSigned(type)) return Binary(ExprOp::kIntShr, type, a, count);
  const uint64_t n = graph_[count].payload;
  if (n == 0) return a;
  if (n >= static_cast<uint64_t>(width)) return Const(type, 0);
  const auto by = static_cast<int>(n);
  if (width >= 32 && by % 16 == 0 && IsPieces(a)) {
    ExprId halves[4];
    for (int at = 0; at < width; at += 16)
      halves[at / 16] = at + by < width ? Extract(a, at + by, 16) : Const(Type::kB16, 0);
    return WithHalves(type, halves);
  }
  return Binary(ExprOp::kIntShr, type, a, count);
}

}  // namespace warpwright::lift
