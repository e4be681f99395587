#include "lift/evaluate_float.h"

#include <bit>
#include <cfenv>
#include <cmath>

#include "core/dtype.h"
#include "sim/approximation.h"

namespace warpwright::lift {
namespace {

using sim::Rounding;
using sim::Type;

constexpr uint64_t kNan32 = 0x7fffffff, kNan16 = 0x7fff;

bool IsDirected(Rounding rounding) {
  return rounding == Rounding::kZero || rounding == Rounding::kDown || rounding == Rounding::kUp;
}

// The host's rounding mode for the length of an operation, whose operands are volatile so that it stays inside.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(IsDirected(rounding) ? std::fegetround() : -1) {
    if (before_ >= 0)
      std::fesetround(rounding == Rounding::kZero   ? FE_TOWARDZERO
                      : rounding == Rounding::kDown ? FE_DOWNWARD
                                                    : FE_UPWARD);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() {
    if (before_ >= 0) std::fesetround(before_);
  }

 private:
  int before_;
};

float F32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double F64(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t Bits(float v) { return v != v ? kNan32 : std::bit_cast<uint32_t>(v); }
uint64_t Bits(double v) { return std::bit_cast<uint64_t>(v); }

float Flush(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}

// Rounded to odd: a later rounding to a shorter format then gives what one rounding would have given.
float OddFloat(double v) {
  const auto f = static_cast<float>(v);
  if (v != v || static_cast<double>(f) == v) return f;
  const auto bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffff) == 0) return std::bit_cast<float>((std::signbit(v) ? 0x80000000u : 0u) | 1u);
  if (bits & 1) return f;
  return std::bit_cast<float>(std::fabs(static_cast<double>(f)) > std::fabs(v) ? bits - 1 : bits + 1);
}
double OddSum(double p, double c) {
  const double s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
  const auto bits = std::bit_cast<uint64_t>(s);
  if (error == 0 || error != error || (bits & 1) != 0 || !std::isfinite(s)) return s;
  return std::bit_cast<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

bool IsHalf(Type type) { return type == Type::kF16 || type == Type::kBf16; }
float FromHalf(Type type, uint64_t bits) {
  return type == Type::kF16 ? core::HalfToFloat(static_cast<uint16_t>(bits))
                            : std::bit_cast<float>(static_cast<uint32_t>(bits & 0xffff) << 16);
}
uint64_t ToHalf(Type type, float v) {
  if (v != v) return kNan16;
  return type == Type::kF16 ? core::FloatToHalf(v) : core::FloatToBFloat16(v);
}

// The number if the other is a NaN, unless a NaN wins; -0 is less than +0.
template <typename T>
T MinMax(bool max, bool nan, T a, T b) {
  if (std::isnan(a)) return nan ? a : b;
  if (std::isnan(b)) return nan ? b : a;
  if (a == b) return std::signbit(a) == max ? b : a;
  return (a > b) == max ? a : b;
}

template <typename T>
T Approximate(ExprOp op, T a) {
  switch (op) {
    case ExprOp::kRsqrt: return T(1) / std::sqrt(a);
    case ExprOp::kEx2: return std::exp2(a);
    case ExprOp::kLg2: return sim::NearOne(std::log2(a));
    case ExprOp::kSin: return std::sin(sim::AngleOfTurns(a));
    case ExprOp::kCos: return std::cos(sim::AngleOfTurns(a));
    default: return sim::ToElevenBits(std::tanh(a));
  }
}

bool IsApproximate(ExprOp op) { return op >= ExprOp::kRsqrt && op <= ExprOp::kTanh; }

template <typename T>
T Exact(const Expr& e, T x, T y, T z) {
  const RoundingScope scope(e.op == ExprOp::kMin || e.op == ExprOp::kMax ? Rounding::kDefault
                                                                         : static_cast<Rounding>(e.mode));
  volatile T a = x, b = y, c = z;
  volatile T r = 0;
  switch (e.op) {
    case ExprOp::kAdd: r = a + b; break;
    case ExprOp::kSub: r = a - b; break;
    case ExprOp::kMul: r = a * b; break;
    case ExprOp::kFma: r = std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)); break;
    case ExprOp::kDiv: r = a / b; break;
    case ExprOp::kRcp: r = T(1) / a; break;
    case ExprOp::kSqrt: r = std::sqrt(static_cast<T>(a)); break;
    case ExprOp::kMin:
    case ExprOp::kMax: r = MinMax<T>(e.op == ExprOp::kMax, e.mode == 1, a, b); break;
    default: break;
  }
  return r;
}

uint64_t Single(const Expr& e, const uint64_t* args) {
  float a = F32(args[0]), b = F32(args[1]), c = F32(args[2]);
  if (e.flush) a = Flush(a), b = Flush(b), c = Flush(c);
  float r = 0;
  if (IsApproximate(e.op)) {
    r = static_cast<float>(Approximate<double>(e.op, static_cast<double>(a)));
  } else if (e.op == ExprOp::kDiv && e.payload == 1 && std::fabs(b) > 0x1p126f && std::isfinite(b)) {
    r = std::bit_cast<float>((std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u) * a;
  } else {
    r = Exact<float>(e, a, b, c);
  }
  if (e.flush) {
    // A product that is subnormal before rounding is flushed, even if it rounds up to a normal number.
    double exact = 1;
    if (e.op == ExprOp::kMul) exact = static_cast<double>(a) * static_cast<double>(b);
    if (e.op == ExprOp::kFma) exact = OddSum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
    if (std::fabs(exact) < 0x1p-126) r = std::copysign(0.0f, r);
    r = Flush(r);
  }
  return Bits(r);
}

uint64_t Half(const Expr& e, const uint64_t* args) {
  const bool f16 = e.type == Type::kF16;
  double v[3];
  for (int k = 0; k < 3; ++k) {
    uint64_t bits = args[k] & 0xffff;
    if (e.flush && (bits & (f16 ? 0x7c00u : 0x7f80u)) == 0) bits &= 0x8000;
    v[k] = static_cast<double>(FromHalf(e.type, bits));
  }
  float r = 0;
  switch (e.op) {
    case ExprOp::kAdd: r = OddFloat(OddSum(v[0], v[1])); break;
    case ExprOp::kSub: r = OddFloat(OddSum(v[0], -v[1])); break;
    case ExprOp::kMul: r = OddFloat(v[0] * v[1]); break;
    case ExprOp::kFma: r = OddFloat(OddSum(v[0] * v[1], v[2])); break;
    case ExprOp::kMin:
    case ExprOp::kMax: r = static_cast<float>(MinMax<double>(e.op == ExprOp::kMax, e.mode == 1, v[0], v[1])); break;
    default: r = static_cast<float>(Approximate<double>(e.op, v[0])); break;
  }
  if (e.flush && !IsApproximate(e.op) && std::fabs(r) < 0x1p-14f) r = std::copysign(0.0f, r);
  uint64_t bits = ToHalf(e.type, r);
  if (e.flush && IsApproximate(e.op) && (bits & (f16 ? 0x7c00u : 0x7f80u)) == 0) bits &= 0x8000;
  return bits;
}

uint64_t SignBit(Type type) { return 1ull << (Width(type) - 1); }

// A number on its way between types.
struct Value {
  bool is_float = false, negative = false;
  uint64_t magnitude = 0;  // of an integer
  double real = 0;
};

Value Read(const Expr& e, uint64_t bits) {
  Value v;
  v.is_float = sim::IsFloat(e.from);
  if (e.from == Type::kF64) {
    v.real = F64(bits);
  } else if (e.from == Type::kF32) {
    const float f = F32(bits);
    v.real = static_cast<double>(!e.flush ? f : f != f ? F32(kNan32) : Flush(f));
  } else if (v.is_float) {
    v.real = static_cast<double>(FromHalf(e.from, bits));
  } else {
    const int width = Width(e.from);
    const uint64_t value = width == 64 ? bits : bits & ((1ull << width) - 1);
    v.negative = sim::IsSigned(e.from) && (value >> (width - 1) & 1) != 0;
    v.magnitude = v.negative ? 0 - (width == 64 ? value : value | UINT64_MAX << width) : value;
    v.real = static_cast<double>(v.magnitude) * (v.negative ? -1 : 1);
  }
  return v;
}

double RoundToInteger(double v, Rounding rounding) {
  switch (rounding) {
    case Rounding::kIntNearest: return std::nearbyint(v);
    case Rounding::kIntZero: return std::trunc(v);
    case Rounding::kIntDown: return std::floor(v);
    case Rounding::kIntUp: return std::ceil(v);
    default: return v;
  }
}

uint64_t ToInteger(const Expr& e, const Value& v) {
  const int width = Width(e.type);
  const uint64_t keep = width == 64 ? UINT64_MAX : (1ull << width) - 1;
  if (!v.is_float) return (v.negative ? 0 - v.magnitude : v.magnitude) & keep;
  const double r = RoundToInteger(v.real, static_cast<Rounding>(e.mode));
  if (r != r) return e.from == Type::kF64 || width == 64 ? 1ull << (width - 1) : 0;
  const double limit = std::ldexp(1.0, sim::IsSigned(e.type) ? width - 1 : width);
  if (!sim::IsSigned(e.type)) return r >= limit ? keep : r <= 0 ? 0 : static_cast<uint64_t>(r);
  if (r >= limit) return keep >> 1;
  if (r < -limit) return 1ull << (width - 1);
  return static_cast<uint64_t>(static_cast<int64_t>(r)) & keep;
}

template <typename T>
T Rounded(const Value& value, Rounding rounding) {
  const RoundingScope scope(rounding);
  if (!value.is_float) {
    volatile T r = 0;
    if (value.negative) {
      volatile auto integer = static_cast<int64_t>(0 - value.magnitude);
      r = static_cast<T>(static_cast<int64_t>(integer));
    } else {
      volatile uint64_t integer = value.magnitude;
      r = static_cast<T>(static_cast<uint64_t>(integer));
    }
    const T rounded = r;
    return rounded == 0 ? T(0) : rounded;  // the compiler's conversion may have subtracted equal numbers, rounding down
  }
  volatile double v = value.real;
  volatile T r = static_cast<T>(static_cast<double>(v));
  return r;
}

uint64_t ToSixteen(const Expr& e, const Value& v) {
  const auto rounding = static_cast<Rounding>(e.mode);
  double d = v.real;
  if (!v.is_float && v.magnitude >> 53 != 0) {  // a double does not hold it: to odd
    const int shift = 64 - std::countl_zero(v.magnitude) - 40;
    const uint64_t kept = v.magnitude >> shift | ((v.magnitude & ((1ull << shift) - 1)) != 0 ? 1 : 0);
    d = std::ldexp(static_cast<double>(kept), shift) * (v.negative ? -1 : 1);
  }
  if (d != d) {
    if (e.from != Type::kF64 || IsDirected(rounding)) return kNan16;
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(d));  // the payload is preserved
    return e.type == Type::kF16 ? (bits >> 16 & 0x8000) | 0x7c00 | (bits >> 13 & 0x3ff) : bits >> 16;
  }
  uint64_t bits = ToHalf(e.type, OddFloat(d));
  if (!IsDirected(rounding)) return bits;
  const double got = static_cast<double>(FromHalf(e.type, bits));
  const bool negative = std::signbit(d);
  const bool outwards = rounding == Rounding::kDown ? negative : rounding == Rounding::kUp && !negative;
  if (std::fabs(got) > std::fabs(d) && !outwards) --bits;
  if (std::fabs(got) < std::fabs(d) && outwards) ++bits;
  return bits;
}

}  // namespace

uint64_t EvaluateFloat(const Expr& e, const uint64_t* args) {
  switch (e.op) {
    case ExprOp::kNeg:
    case ExprOp::kAbs: {
      uint64_t v = args[0];
      const uint64_t exponent = e.type == Type::kF32 ? 0x7f800000u : e.type == Type::kF16 ? 0x7c00u : 0x7f80u;
      if (e.flush && e.type != Type::kF64 && (v & exponent) == 0) v &= SignBit(e.type);
      return e.op == ExprOp::kNeg ? v ^ SignBit(e.type) : v & ~SignBit(e.type);
    }
    case ExprOp::kCopysign: return (args[0] & SignBit(e.type)) | (args[1] & ~SignBit(e.type));
    default: break;
  }
  if (e.type == Type::kF32) return Single(e, args);
  if (IsHalf(e.type)) return Half(e, args);
  const double a = F64(args[0]), b = F64(args[1]), c = F64(args[2]);
  return Bits(IsApproximate(e.op) ? Approximate<double>(e.op, a) : Exact<double>(e, a, b, c));
}

uint64_t EvaluateConvert(const Expr& e, uint64_t bits) {
  const auto rounding = static_cast<Rounding>(e.mode);
  Value v = Read(e, bits);
  if (!sim::IsFloat(e.type)) return ToInteger(e, v);
  if (v.is_float && rounding >= Rounding::kIntNearest) v.real = RoundToInteger(v.real, rounding);
  if (IsHalf(e.type)) return ToSixteen(e, v);
  if (e.type == Type::kF64) return Bits(Rounded<double>(v, rounding));
  if (e.from == Type::kBf16) return (bits & 0xffff) << 16;  // keeps a NaN's payload
  float f = Rounded<float>(v, rounding);
  if (f != f && e.from == Type::kF64) return std::bit_cast<uint32_t>(f);
  if (e.flush) f = Flush(f);
  return Bits(f);
}

bool EvaluateCompare(sim::Compare compare, Type type, bool flush, uint64_t x, uint64_t y) {
  using sim::Compare;
  auto holds = [&](auto a, auto b) {
    const bool ordered = !std::isnan(a) && !std::isnan(b);
    switch (compare) {
      case Compare::kEq: return a == b;
      case Compare::kNe: return ordered && a != b;
      case Compare::kLt:
      case Compare::kLo: return a < b;
      case Compare::kLe:
      case Compare::kLs: return a <= b;
      case Compare::kGt:
      case Compare::kHi: return a > b;
      case Compare::kGe:
      case Compare::kHs: return a >= b;
      case Compare::kEqu: return !ordered || a == b;
      case Compare::kNeu: return !(a == b);
      case Compare::kLtu: return !(a >= b);
      case Compare::kLeu: return !(a > b);
      case Compare::kGtu: return !(a <= b);
      case Compare::kGeu: return !(a < b);
      case Compare::kNum: return ordered;
      case Compare::kNan: return !ordered;
    }
    return false;
  };
  if (type == Type::kF64) return holds(F64(x), F64(y));
  if (type == Type::kF32) return flush ? holds(Flush(F32(x)), Flush(F32(y))) : holds(F32(x), F32(y));
  if (sim::IsFloat(type)) {
    auto read = [&](uint64_t bits) {
      if (flush && (bits & (type == Type::kF16 ? 0x7c00u : 0x7f80u)) == 0) bits &= 0x8000;
      return FromHalf(type, bits);
    };
    return holds(read(x), read(y));
  }
  const int width = Width(type);
  const bool is_unsigned = compare == Compare::kLo || compare == Compare::kLs || compare == Compare::kHi ||
                           compare == Compare::kHs || !sim::IsSigned(type);
  const uint64_t up = static_cast<uint64_t>(64 - width);
  if (is_unsigned) return holds(x << up, y << up);
  return holds(static_cast<int64_t>(x << up), static_cast<int64_t>(y << up));
}

}  // namespace warpwright::lift
