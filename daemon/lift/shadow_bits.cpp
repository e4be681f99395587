// Logic, shifts, bit fields and permutations, and what gives predicates.
#include <bit>

#include "lift/expression_shadow.h"

namespace warpwright::lift {
namespace {

using sim::Context;
using sim::Instruction;
using sim::Op;
using sim::Type;

uint64_t Ones(int width) { return width >= 64 ? UINT64_MAX : (1ull << width) - 1; }

}  // namespace

// Bytes chosen from two registers by a constant selector, of whole halves if it can be.
ExprId ExpressionShadow::PermuteBytes(const Instruction& in, ExprId a, ExprId b, uint32_t selector) {
  uint32_t chosen[4];
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t s = selector & 3;
    switch (static_cast<sim::PrmtMode>(in.mode)) {
      case sim::PrmtMode::kGeneric: chosen[k] = selector >> (4 * k) & 15; break;
      case sim::PrmtMode::kF4e: chosen[k] = s + k; break;
      case sim::PrmtMode::kB4e: chosen[k] = (s - k) & 7; break;
      case sim::PrmtMode::kRc8: chosen[k] = s; break;
      case sim::PrmtMode::kEcl: chosen[k] = k > s ? k : s; break;
      case sim::PrmtMode::kEcr: chosen[k] = k < s ? k : s; break;
      default: chosen[k] = (s & 1) * 2 + (k & 1); break;
    }
  }
  auto byte = [&](uint32_t s) {
    const ExprId value = builder_.Extract(s & 4 ? b : a, static_cast<int>(8 * (s & 3)), 8);
    return s & 8 ? builder_.Binary(ExprOp::kIntShr, Type::kS8, value, builder_.Const(Type::kU32, 7)) : value;
  };
  auto half = [&](uint32_t low, uint32_t high) {
    if ((low & 9) == 0 && high == low + 1)
      return builder_.Extract(low & 4 ? b : a, static_cast<int>(8 * (low & 3)), 16);
    return builder_.Pack(byte(low), byte(high));
  };
  return builder_.Pack(half(chosen[0], chosen[1]), half(chosen[2], chosen[3]));
}

// Of one operand that depends on data: bits that are kept and bits that are flipped. Of more: the sum of products.
ExprId ExpressionShadow::Lop3(const Instruction& in, uint32_t lane) {
  const Type type = Type::kU32;
  const auto table = static_cast<uint32_t>(in.immediate);
  ExprId args[3];
  for (int k = 0; k < 3; ++k) args[k] = Arg(k + 1, lane, Type::kB32);
  ExprId sum = builder_.Const(type, 0);
  for (uint32_t term = 0; term < 8; ++term) {
    if (!(table >> term & 1)) continue;
    ExprId product = builder_.Const(type, UINT32_MAX);
    for (uint32_t k = 0; k < 3; ++k)
      product = builder_.BitAnd(type, product, term >> (2 - k) & 1 ? args[k] : builder_.BitNot(type, args[k]));
    sum = builder_.BitOr(type, sum, product);
  }
  return sum;
}

bool ExpressionShadow::ComputeBits(const Instruction& in, uint32_t lane, ExprId& id) {
  const int width = Width(in.type);
  const Type type = UnsignedType(width);
  auto count = [&](int k) { return Arg(k, lane, Type::kU32); };
  auto constant = [&](int k, uint64_t& value) {
    const ExprId arg = Arg(k, lane, Type::kU32);
    value = builder_[arg].payload;
    return builder_.IsConst(arg);
  };
  switch (in.op) {
    case Op::kAnd: id = builder_.BitAnd(type, Arg(1, lane, type), Arg(2, lane, type)); return true;
    case Op::kOr: id = builder_.BitOr(type, Arg(1, lane, type), Arg(2, lane, type)); return true;
    case Op::kXor: id = builder_.BitXor(type, Arg(1, lane, type), Arg(2, lane, type)); return true;
    case Op::kNot: id = builder_.BitNot(type, Arg(1, lane, type)); return true;
    case Op::kCnot: {
      const ExprId zero = builder_.Compare(sim::Compare::kEq, type, Arg(1, lane, type), builder_.Const(type, 0));
      id = builder_.Select(type, zero, builder_.Const(type, 1), builder_.Const(type, 0));
      return true;
    }
    case Op::kLop3: id = Lop3(in, lane); return true;
    case Op::kTestp: id = TestProperty(in, lane); return true;
    case Op::kShl: id = builder_.ShiftLeft(type, Arg(1, lane, type), count(2)); return true;
    case Op::kShr: {
      const Type shifted = sim::IsSigned(in.type) ? in.type : type;
      id = builder_.ShiftRight(shifted, Arg(1, lane, shifted), count(2));
      return true;
    }
    case Op::kShf: {
      uint64_t n = 0;
      if (!constant(3, n)) return false;
      n = in.wrap ? n & 31 : std::min<uint64_t>(n, 32);
      const ExprId low = Arg(1, lane, type), high = Arg(2, lane, type);
      const ExprId right = builder_.Const(type, in.mode == 1 ? n : 32 - n),
                   left = builder_.Const(type, in.mode == 1 ? 32 - n : n);
      id = builder_.BitOr(type, builder_.ShiftRight(type, low, right), builder_.ShiftLeft(type, high, left));
      return true;
    }
    case Op::kPrmt: {
      uint64_t selector = 0;
      if (!constant(3, selector)) return false;
      id = PermuteBytes(in, Arg(1, lane, Type::kB32), Arg(2, lane, Type::kB32), static_cast<uint32_t>(selector));
      return true;
    }
    case Op::kBfe: {
      uint64_t first = 0, bits = 0;
      if (!constant(2, first) || !constant(3, bits)) return false;
      if (width == 32) first &= 0xff, bits &= 0xff;
      if (bits == 0 || first + bits > static_cast<uint64_t>(width)) return false;
      const auto left = static_cast<uint64_t>(width) - first - bits;
      const Type shifted = sim::IsSigned(in.type) ? SignedType(width) : type;
      id = builder_.ShiftRight(shifted, builder_.ShiftLeft(type, Arg(1, lane, type), builder_.Const(Type::kU32, left)),
                               builder_.Const(Type::kU32, left + first));
      return true;
    }
    case Op::kBfi: {
      uint64_t first = 0, bits = 0;
      if (!constant(3, first) || !constant(4, bits)) return false;
      if (width == 32) first &= 0xff, bits &= 0xff;
      if (bits == 0 || first + bits > static_cast<uint64_t>(width)) return false;
      const uint64_t field = Ones(static_cast<int>(bits)) << first;
      const ExprId placed = builder_.ShiftLeft(type, Arg(1, lane, type), builder_.Const(Type::kU32, first));
      id = builder_.BitOr(type, builder_.BitAnd(type, placed, builder_.Const(type, field)),
                          builder_.BitAnd(type, Arg(2, lane, type), builder_.Const(type, ~field)));
      return true;
    }
    default: return false;
  }
}

void ExpressionShadow::Unpack(const Context& c, const Instruction& in, uint32_t lanes) {
  const int width = Width(in.type) / in.vector;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const bool symbolic = (operands_[in.defs].symbolic >> lane & 1) != 0 || IsGuarded(lane);
    const ExprId whole = symbolic ? Arg(in.defs, lane, BitsType(Width(in.type))) : kConcrete;
    for (int k = 0; k < in.vector; ++k)
      Set(c, in.reg[k], lane, symbolic ? builder_.Extract(whole, k * width, width) : kConcrete);
  }
}

// The comparison of one lane; of packed halves, of the lower or upper one.
ExprId ExpressionShadow::Compared(const Instruction& in, uint32_t lane, int half) {
  const bool pair = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  const Type type = in.type == Type::kF16x2 ? Type::kF16 : in.type == Type::kBf16x2 ? Type::kBf16 : in.type;
  ExprId a = Arg(in.defs, lane, in.type), b = Arg(in.defs + 1, lane, in.type);
  if (pair) {
    a = builder_.Coerce(builder_.Extract(a, 16 * half, 16), type);
    b = builder_.Coerce(builder_.Extract(b, 16 * half, 16), type);
  }
  const bool equality = in.compare == sim::Compare::kEq || in.compare == sim::Compare::kNe ||
                        in.compare == sim::Compare::kEqu || in.compare == sim::Compare::kNeu;
  if (equality && retries_.contains({a, b}))
    return builder_.Predicate(in.compare == sim::Compare::kNe || in.compare == sim::Compare::kNeu);
  return builder_.Compare(in.compare, type, a, b, in.ftz);
}

ExprId ExpressionShadow::Combined(const Instruction& in, uint32_t lane, ExprId compared) {
  if (in.bool_op == sim::BoolOp::kNone) return compared;
  const ExprId other = PredicateArg(in.operands - 1, lane, in.negate_predicate);
  return in.bool_op == sim::BoolOp::kAnd  ? builder_.And(compared, other)
         : in.bool_op == sim::BoolOp::kOr ? builder_.Or(compared, other)
                                          : builder_.Xor(compared, other);
}

void ExpressionShadow::SetPredicates(const Context& c, const Instruction& in, uint32_t lanes) {
  const bool pair = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const ExprId low = Compared(in, lane, 0);
    Set(c, in.reg[0], lane, Combined(in, lane, low));
    if (in.defs == 2) Set(c, in.reg[1], lane, Combined(in, lane, pair ? Compared(in, lane, 1) : builder_.Not(low)));
  }
}

// set: a number for true, zero for false.
void ExpressionShadow::SetNumbers(const Context& c, const Instruction& in, uint32_t lanes) {
  const bool pair = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  const bool numbers = sim::IsFloat(in.from);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (pair) {
      const Type half = in.type == Type::kF16x2 ? Type::kF16 : Type::kBf16;
      const uint64_t yes = !numbers ? 0xffff : half == Type::kF16 ? 0x3c00 : 0x3f80;
      ExprId parts[2];
      for (int k = 0; k < 2; ++k)
        parts[k] = builder_.Select(numbers ? half : Type::kB16, Combined(in, lane, Compared(in, lane, k)),
                                   builder_.Const(half, yes), builder_.Const(half, 0));
      Set(c, in.reg[0], lane, builder_.Pack(parts[0], parts[1]));
      continue;
    }
    uint64_t yes = UINT64_MAX;
    if (in.from == Type::kF32) yes = 0x3f800000;
    else if (in.from == Type::kF16) yes = 0x3c00;
    else if (in.from == Type::kBf16) yes = 0x3f80;
    Set(c, in.reg[0], lane,
        builder_.Select(in.from, Combined(in, lane, Compared(in, lane, 0)), builder_.Const(in.from, yes),
                        builder_.Const(in.from, 0)));
  }
}

ExprId ExpressionShadow::TestProperty(const Instruction& in, uint32_t lane) {
  const Type type = in.type;
  const bool wide = type == Type::kF64;
  const ExprId a = builder_.Unary(ExprOp::kAbs, type, Arg(1, lane, type));
  const ExprId infinity = builder_.Const(type, wide ? 0x7ff0000000000000ull : 0x7f800000u),
               normal = builder_.Const(type, wide ? 0x0010000000000000ull : 0x00800000u),
               zero = builder_.Const(type, 0);
  using sim::Compare;
  switch (static_cast<sim::TestMode>(in.mode)) {
    case sim::TestMode::kFinite: return builder_.Compare(Compare::kLt, type, a, infinity);
    case sim::TestMode::kInfinite: return builder_.Compare(Compare::kEq, type, a, infinity);
    case sim::TestMode::kNumber: return builder_.Compare(Compare::kNum, type, a, a);
    case sim::TestMode::kNotANumber: return builder_.Compare(Compare::kNan, type, a, a);
    case sim::TestMode::kSubnormal:
      return builder_.And(builder_.Compare(Compare::kLt, type, a, normal),
                          builder_.Compare(Compare::kGt, type, a, zero));
    case sim::TestMode::kNormal: break;
  }
  return builder_.Or(
      builder_.And(builder_.Compare(Compare::kGe, type, a, normal), builder_.Compare(Compare::kLt, type, a, infinity)),
      builder_.Compare(Compare::kEq, type, a, zero));
}

}  // namespace warpwright::lift
