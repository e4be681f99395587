// Moves, selections and arithmetic, lane by lane.
#include <bit>

#include "lift/expression_shadow.h"

namespace warpwright::lift {
namespace {

using sim::Context;
using sim::Instruction;
using sim::Op;
using sim::Type;

Type ElementOf(Type type) { return type == Type::kF16x2 ? Type::kF16 : type == Type::kBf16x2 ? Type::kBf16 : type; }
bool IsPair(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2; }

Type WideOf(Type type) { return sim::IsSigned(type) ? SignedType(2 * Width(type)) : UnsignedType(2 * Width(type)); }

uint64_t Highest(Type type) {
  const int bits = Width(type) - (sim::IsSigned(type) ? 1 : 0);
  return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

ExprOp FloatOp(Op op) {
  switch (op) {
    case Op::kAdd: return ExprOp::kAdd;
    case Op::kSub: return ExprOp::kSub;
    case Op::kMul: return ExprOp::kMul;
    case Op::kFma: return ExprOp::kFma;
    case Op::kDiv: return ExprOp::kDiv;
    case Op::kMin: return ExprOp::kMin;
    case Op::kMax: return ExprOp::kMax;
    case Op::kNeg: return ExprOp::kNeg;
    case Op::kAbs: return ExprOp::kAbs;
    case Op::kCopysign: return ExprOp::kCopysign;
    case Op::kRcp: return ExprOp::kRcp;
    case Op::kSqrt: return ExprOp::kSqrt;
    case Op::kRsqrt: return ExprOp::kRsqrt;
    case Op::kEx2: return ExprOp::kEx2;
    case Op::kLg2: return ExprOp::kLg2;
    case Op::kSin: return ExprOp::kSin;
    case Op::kCos: return ExprOp::kCos;
    case Op::kTanh: return ExprOp::kTanh;
    case Op::kMathCall: return ExprOp::kCall;
    default: return ExprOp::kNone;
  }
}

}  // namespace

bool ExpressionShadow::ComputeMove(const Instruction& in, uint32_t lane, ExprId& id) {
  switch (in.op) {
    case Op::kMove:
      id = in.type == Type::kPred                     ? PredicateArg(1, lane, in.negate_predicate)
           : (operands_[1].symbolic >> lane & 1) != 0 ? operands_[1].ids[lane]
                                                      : Arg(1, lane, in.type);
      return true;
    case Op::kCvta:
      id = builder_.Binary(ExprOp::kIntAdd, Type::kU64, Arg(1, lane, Type::kU64),
                           builder_.Const(Type::kU64, static_cast<uint64_t>(in.immediate)));
      return true;
    case Op::kPack: {
      const Type part = BitsType(Width(in.type) / in.vector);
      const ExprId low = builder_.Pack(Arg(1, lane, part), Arg(2, lane, part));
      id = in.vector == 2 ? low : builder_.Pack(low, builder_.Pack(Arg(3, lane, part), Arg(4, lane, part)));
      return true;
    }
    case Op::kSelect: {
      // What is not chosen may be anything of the register's width: only then does it matter.
      const ExprId predicate = PredicateArg(3, lane, false);
      if (builder_.IsConst(predicate)) {
        const int chosen = builder_[predicate].payload != 0 ? 1 : 2;
        const Operand& operand = operands_[static_cast<size_t>(chosen)];
        id = operand.symbolic >> lane & 1 ? operand.ids[lane] : kConcrete;
      } else {
        id = builder_.Select(in.type, predicate, Arg(1, lane, in.type), Arg(2, lane, in.type));
      }
      return true;
    }
    case Op::kSlct: {
      const Type type = in.from == Type::kF32 ? Type::kF32 : Type::kS32;
      const ExprId first =
          builder_.Compare(sim::Compare::kGe, type, Arg(3, lane, type), builder_.Const(type, 0), in.ftz);
      id = builder_.Select(in.type, first, Arg(1, lane, in.type), Arg(2, lane, in.type));
      return true;
    }
    case Op::kPredicateLogic: {
      const ExprId a = PredicateArg(1, lane, false);
      if (in.operands == 2) {
        id = builder_.Not(a);
        return true;
      }
      const ExprId b = PredicateArg(2, lane, false);
      const auto op = static_cast<Op>(in.mode);
      id = op == Op::kAnd ? builder_.And(a, b) : op == Op::kOr ? builder_.Or(a, b) : builder_.Xor(a, b);
      return true;
    }
    default: return false;
  }
}

Expr ExpressionShadow::FloatNode(const Instruction& in, Type type, ExprId a, ExprId b, ExprId c) const {
  Expr e{.op = FloatOp(in.op), .type = type, .approx = in.approx || in.full_range || in.ftz, .flush = in.ftz};
  e.arity = static_cast<uint8_t>(in.operands - in.defs);
  e.args = {a, e.arity > 1 ? b : kConcrete, e.arity > 2 ? c : kConcrete};
  if (e.op == ExprOp::kCall) e.mode = in.mode;
  else if (e.op == ExprOp::kMin || e.op == ExprOp::kMax) e.mode = in.nan ? 1 : 0;
  else if (in.rounding != sim::Rounding::kNearest) e.mode = static_cast<uint8_t>(in.rounding);
  if (e.op == ExprOp::kDiv && in.approx) e.payload = 1;
  return e;
}

// The common case, with a look ahead at where the expressions are.
// A wave of the position is told by its angle alone, so that its calls stay, even of what does not depend on inputs.
bool ExpressionShadow::KeepsCall(const Instruction& in) {
  if (in.type != Type::kF32 && in.type != Type::kF64) return false;
  if (in.op == Op::kSin || in.op == Op::kCos) return true;
  const auto function = static_cast<core::Function>(in.mode);
  return in.op == Op::kMathCall && (function == core::Function::kSin || function == core::Function::kCos);
}

bool ExpressionShadow::ComputeFloats(const Context& c, const Instruction& in, uint32_t lanes) {
  if ((in.type != Type::kF32 && in.type != Type::kF64) || FloatOp(in.op) == ExprOp::kNone || in.sat || in.xorsign)
    return false;
  std::array<Expr, kLanes> nodes;
  uint32_t symbolic = 0;
  const bool kept = KeepsCall(in);
  if (kept) symbolic = lanes;
  for (int k = in.defs; k < in.operands; ++k) symbolic |= operands_[static_cast<size_t>(k)].symbolic;
  const int count = in.operands - in.defs;
  for (uint32_t m = lanes & symbolic; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    nodes[lane] = FloatNode(in, in.type, Arg(1, lane, in.type), count > 1 ? Arg(2, lane, in.type) : kConcrete,
                            count > 2 ? Arg(3, lane, in.type) : kConcrete);
    builder_.Prefetch(nodes[lane]);
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    bool depends = kept;
    if (symbolic >> lane & 1)
      for (const ExprId arg : nodes[lane].arguments()) depends |= !builder_.IsConst(arg);
    Set(c, in.reg[0], lane, depends ? builder_.Make(nodes[lane], ResultBits(c, in, 0, lane, in.type)) : kConcrete);
  }
  return true;
}

// One number; saturation and .relu are a maximum and a minimum with constants.
ExprId ExpressionShadow::FloatOperation(const Instruction& in, Type type, ExprId a, ExprId b, ExprId c) {
  ExprId id = builder_.Make(FloatNode(in, type, a, b, c));
  const uint64_t one = type == Type::kF64   ? 0x3ff0000000000000ull
                       : type == Type::kF32 ? 0x3f800000u
                       : type == Type::kF16 ? 0x3c00u
                                            : 0x3f80u;
  if (in.relu)
    id =
        builder_.Make({.op = ExprOp::kMax, .type = type, .mode = 1, .arity = 2, .args = {id, builder_.Const(type, 0)}});
  if (in.sat)
    id = builder_.Binary(ExprOp::kMin, type, builder_.Binary(ExprOp::kMax, type, id, builder_.Const(type, 0)),
                         builder_.Const(type, one));
  return id;
}

bool ExpressionShadow::ComputeFloat(const Instruction& in, uint32_t lane, ExprId& id) {
  if (in.type == Type::kTf32) return false;
  if (in.op == Op::kConvert) {
    id = ConvertOperation(in, in.type, Arg(1, lane, in.from));
    return true;
  }
  if (in.op == Op::kConvertPack) {
    const Type half = ElementOf(in.type);
    const ExprId high = ConvertOperation(in, half, Arg(1, lane, Type::kF32));
    id = builder_.Pack(ConvertOperation(in, half, Arg(2, lane, Type::kF32)), high);
    return true;
  }
  if (!sim::IsFloat(in.type) || FloatOp(in.op) == ExprOp::kNone || in.xorsign) return false;
  const Type type = ElementOf(in.type);
  const int count = in.operands - in.defs;
  if (!IsPair(in.type)) {
    id = FloatOperation(in, type, Arg(1, lane, type), count > 1 ? Arg(2, lane, type) : kConcrete,
                        count > 2 ? Arg(3, lane, type) : kConcrete);
    return true;
  }
  ExprId halves[2] = {};
  for (int half = 0; half < 2; ++half) {
    ExprId args[3] = {};
    for (int k = 0; k < count; ++k)
      args[k] = builder_.Coerce(builder_.Extract(Arg(k + 1, lane, Type::kB32), 16 * half, 16), type);
    halves[half] = FloatOperation(in, type, args[0], args[1], args[2]);
  }
  id = builder_.Pack(halves[0], halves[1]);
  return true;
}

// Clamped to what the narrower of the two types can hold.
ExprId ExpressionShadow::SaturatedInteger(Type to, Type from, ExprId a) {
  const uint64_t to_high = Highest(to), from_high = Highest(from);
  ExprId id = a;
  if (sim::IsSigned(from)) {
    const int64_t to_low = sim::IsSigned(to) ? -static_cast<int64_t>(to_high) - 1 : 0;
    if (to_low > -static_cast<int64_t>(from_high) - 1)
      id = builder_.Binary(ExprOp::kMax, from, id, builder_.Const(from, static_cast<uint64_t>(to_low)));
  }
  if (to_high < from_high) id = builder_.Binary(ExprOp::kMin, from, id, builder_.Const(from, to_high));
  if (Width(to) < Width(from)) id = builder_.Coerce(id, to);
  else if (Width(to) > Width(from))
    id = sim::IsSigned(from) ? builder_.Convert(SignedType(Width(to)), from, id) : builder_.Coerce(id, to);
  return sim::IsSigned(to) && Width(to) < 32 ? builder_.Convert(Type::kS32, to, id) : id;
}

ExprId ExpressionShadow::ConvertOperation(const Instruction& in, Type to, ExprId a) {
  const bool from_float = sim::IsFloat(in.from) || in.op == Op::kConvertPack, to_float = sim::IsFloat(to);
  const Type from = in.op == Op::kConvertPack ? Type::kF32 : in.from;
  if (!from_float && !to_float && in.sat) return SaturatedInteger(to, from, a);
  if (!from_float && !to_float) {
    if (Width(to) <= Width(from)) {
      const ExprId low = builder_.Coerce(a, to);
      return sim::IsSigned(to) && Width(to) < 32 ? builder_.Convert(Type::kS32, to, low) : low;
    }
    if (!sim::IsSigned(from)) return builder_.Coerce(a, to);
    // Extended with the sign: to the width of the register too.
    const Type wide = SignedType(std::max(32, Width(to)));
    return builder_.Convert(wide, from, a);
  }
  // A copy, unless it rounds to an integer or flushes.
  const bool whole = in.rounding >= sim::Rounding::kIntNearest;
  ExprId id = a;
  if (from != to || whole || in.ftz) {
    sim::Rounding rounding = in.rounding == sim::Rounding::kNearest ? sim::Rounding::kDefault : in.rounding;
    id = builder_.Convert(to, from, a, rounding, in.ftz);
  }
  if (!to_float) return sim::IsSigned(to) && Width(to) < 32 ? builder_.Convert(Type::kS32, to, id) : id;
  if (in.relu)
    id = builder_.Make({.op = ExprOp::kMax, .type = to, .mode = 1, .arity = 2, .args = {id, builder_.Const(to, 0)}});
  if (in.sat) {
    const uint64_t one = to == Type::kF64   ? 0x3ff0000000000000ull
                         : to == Type::kF32 ? 0x3f800000u
                         : to == Type::kF16 ? 0x3c00u
                                            : 0x3f80u;
    id = builder_.Binary(ExprOp::kMin, to, builder_.Binary(ExprOp::kMax, to, id, builder_.Const(to, 0)),
                         builder_.Const(to, one));
  }
  return id;
}

// mul and mad: the low or high half, or twice as wide.
ExprId ExpressionShadow::Product(const Instruction& in, uint32_t lane) {
  const ExprId a = Arg(1, lane, in.type), b = Arg(2, lane, in.type);
  if (in.mul == sim::MulMode::kWide) {
    const Type wide = WideOf(in.type);
    return builder_.Binary(ExprOp::kIntMul, wide, builder_.Convert(wide, in.type, a),
                           builder_.Convert(wide, in.type, b));
  }
  return builder_.Binary(in.mul == sim::MulMode::kHi ? ExprOp::kIntMulHigh : ExprOp::kIntMul, in.type, a, b);
}

bool ExpressionShadow::ComputeInteger(const Instruction& in, uint32_t lane, ExprId& id) {
  if (sim::IsFloat(in.type)) return false;
  const Type type = in.type;
  auto binary = [&](ExprOp op) { id = builder_.Binary(op, type, Arg(1, lane, type), Arg(2, lane, type)); };
  if (in.sat) {
    if (in.op != Op::kAdd && in.op != Op::kSub) return false;
    const ExprId a = builder_.Convert(Type::kS64, type, Arg(1, lane, type)),
                 b = builder_.Convert(Type::kS64, type, Arg(2, lane, type));
    id = SaturatedInteger(type, Type::kS64,
                          builder_.Binary(in.op == Op::kAdd ? ExprOp::kIntAdd : ExprOp::kIntSub, Type::kS64, a, b));
    return true;
  }
  switch (in.op) {
    case Op::kAdd: binary(ExprOp::kIntAdd); return true;
    case Op::kSub: binary(ExprOp::kIntSub); return true;
    case Op::kDiv: binary(ExprOp::kIntDiv); return true;
    case Op::kRem: binary(ExprOp::kIntRem); return true;
    case Op::kMin:
    case Op::kMax:
      binary(in.op == Op::kMin ? ExprOp::kMin : ExprOp::kMax);
      if (in.relu) id = builder_.Binary(ExprOp::kMax, type, id, builder_.Const(type, 0));
      return true;
    case Op::kNeg:
    case Op::kAbs:
      id = builder_.Unary(in.op == Op::kNeg ? ExprOp::kNeg : ExprOp::kAbs, type, Arg(1, lane, type));
      return true;
    case Op::kMul: id = Product(in, lane); return true;
    case Op::kMad: {
      const Type sum = in.mul == sim::MulMode::kWide ? WideOf(type) : type;
      id = builder_.Binary(ExprOp::kIntAdd, sum, Product(in, lane), Arg(3, lane, sum));
      return true;
    }
    case Op::kSad: {
      const ExprId a = Arg(1, lane, type), b = Arg(2, lane, type);
      const ExprId difference = builder_.Binary(ExprOp::kIntSub, type, builder_.Binary(ExprOp::kMax, type, a, b),
                                                builder_.Binary(ExprOp::kMin, type, a, b));
      id = builder_.Binary(ExprOp::kIntAdd, type, Arg(3, lane, type), difference);
      return true;
    }
    case Op::kPopc:
    case Op::kClz:
      if (uint64_t bits = 0; in.op == Op::kPopc && Width(type) == 32) {
        if (const auto count = Count(Arg(1, lane, type), UINT32_MAX, bits)) {
          id = *count;
          return true;
        }
      }
      id = builder_.Make({.op = in.op == Op::kPopc ? ExprOp::kIntPopc : ExprOp::kIntClz,
                          .type = Type::kU32,
                          .from = type,
                          .arity = 1,
                          .args = {Arg(1, lane, type)}});
      return true;
    case Op::kBfind: {
      // The highest bit that differs from the sign; none: all ones.
      ExprId a = Arg(1, lane, type);
      const Type bits = UnsignedType(Width(type));
      if (sim::IsSigned(type))
        a = builder_.Select(bits, builder_.Compare(sim::Compare::kLt, type, a, builder_.Const(type, 0)),
                            builder_.BitNot(bits, a), a);
      const ExprId zeros =
          builder_.Make({.op = ExprOp::kIntClz, .type = Type::kU32, .from = bits, .arity = 1, .args = {a}});
      const ExprId top = builder_.Const(Type::kU32, static_cast<uint64_t>(Width(type) - 1));
      id = builder_.Binary(ExprOp::kIntSub, Type::kU32, top, zeros);
      if (in.wrap)
        id = builder_.Select(Type::kU32, builder_.Compare(sim::Compare::kEq, bits, a, builder_.Const(bits, 0)),
                             builder_.Const(Type::kU32, UINT32_MAX), zeros);
      return true;
    }
    case Op::kDp4a:
    case Op::kDp2a: id = DotProduct(in, lane); return true;
    default: return false;
  }
}

// Sums of products of bytes, or of bytes with 16 bits.
ExprId ExpressionShadow::DotProduct(const Instruction& in, uint32_t lane) {
  const bool four = in.op == Op::kDp4a;
  const ExprId a = Arg(1, lane, Type::kB32), b = Arg(2, lane, Type::kB32);
  ExprId sum = Arg(3, lane, Type::kS32);
  const int width = four ? 8 : 16, shift = !four && in.mul == sim::MulMode::kHi ? 16 : 0;
  for (int k = 0; k < (four ? 4 : 2); ++k) {
    const Type x = in.mode & 1 ? SignedType(width) : UnsignedType(width), y = in.mode & 2 ? Type::kS8 : Type::kU8;
    const ExprId p = builder_.Convert(Type::kS32, x, builder_.Extract(a, k * width, width)),
                 q = builder_.Convert(Type::kS32, y, builder_.Extract(b, shift + 8 * k, 8));
    sum = builder_.Binary(ExprOp::kIntAdd, Type::kS32, sum, builder_.Binary(ExprOp::kIntMul, Type::kS32, p, q));
  }
  return sum;
}

}  // namespace warpwright::lift
