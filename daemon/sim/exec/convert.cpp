// cvt between all types. The common forms have vector code; the others use one general routine, lane by lane.
//
// Floats to integers saturate. A NaN becomes 0, or, from f64 or to 64 bits, the lowest signed number, as on the
// hardware. f64 to 16 bits goes through f32 rounded to odd, which makes it one rounding.
#include <limits>

#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {
namespace {

// Fast forms.
template <typename R, typename A>
struct Cast {
  static R Run(A a) { return static_cast<R>(a); }
};
struct IntToFloat {  // through double: exact, then one rounding
  static float Run(int32_t a) { return static_cast<float>(a); }
  static float Run(uint32_t a) { return static_cast<float>(static_cast<double>(a)); }
};
template <typename R>
struct FloatToInt32 {  // towards zero
  static R Run(float a) {
    constexpr double kLow = std::numeric_limits<R>::min(), kHigh = std::numeric_limits<R>::max();
    double v = static_cast<double>(a);
    v = v != v ? 0.0 : v;
    v = v < kLow ? kLow : (v > kHigh ? kHigh : v);
    return static_cast<R>(static_cast<int64_t>(v));
  }
};
struct SatFloat {
  static float Run(float a) { return Saturate(a); }
};

template <typename Format, bool kFull>
const Instruction* FromHalf(Context& c, const Instruction* i) {
  alignas(64) float x[kLanes];
  Format::Load(Reg<uint32_t>(c, i->reg[1]), 0, x);
  float* d = Reg<float>(c, i->reg[0]);
  WW_LANES Write<kFull>(c, d, l, std::is_same_v<Format, HalfFormat> ? Canonical(x[l]) : x[l]);
  return i + 1;
}
template <typename Format, bool kFull>
const Instruction* ToHalf(Context& c, const Instruction* i) {
  alignas(64) uint32_t bits[kLanes];
  Format::Store(Reg<float>(c, i->reg[1]), bits);
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<kFull>(c, d, l, bits[l]);
  return i + 1;
}
// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
template <typename Format, bool kFull>
const Instruction* ToPair(Context& c, const Instruction* i) {
  alignas(64) uint32_t high[kLanes], low[kLanes];
  Format::Store(Reg<float>(c, i->reg[1]), high);
  Format::Store(Reg<float>(c, i->reg[2]), low);
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<kFull>(c, d, l, (high[l] << 16) | low[l]);
  return i + 1;
}

// The general routine. An intermediate value: a 64-bit integer, or a double.
struct Value {
  bool is_float = false, is_signed = false;
  uint64_t integer = 0;
  double real = 0;
};

uint64_t Raw(Context& c, const Instruction* i, uint32_t lane) {
  return i->wide_source[0] ? Reg<uint64_t>(c, i->reg[1])[lane] : Reg<uint32_t>(c, i->reg[1])[lane];
}

Value Read(const Instruction* i, uint64_t raw) {
  Value v;
  switch (i->from) {
    case Type::kU8: v.integer = raw & 0xff; break;
    case Type::kU16: v.integer = raw & 0xffff; break;
    case Type::kU32: v.integer = raw & UINT32_MAX; break;
    case Type::kU64: v.integer = raw; break;
    case Type::kS8: v.integer = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(raw))); break;
    case Type::kS16: v.integer = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(raw))); break;
    case Type::kS32: v.integer = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(raw))); break;
    case Type::kS64: v.integer = raw; break;
    case Type::kF16: v.real = HalfFormat::ToFloat(static_cast<uint32_t>(raw & 0xffff)); break;
    case Type::kBf16: v.real = Bf16Format::ToFloat(static_cast<uint32_t>(raw & 0xffff)); break;
    case Type::kF32: {
      const float f = std::bit_cast<float>(static_cast<uint32_t>(raw));
      v.real = i->ftz ? Canonical(Flush(f)) : f;
      break;
    }
    default: v.real = std::bit_cast<double>(raw); break;
  }
  v.is_float = IsFloat(i->from);
  v.is_signed = IsSigned(i->from);
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

// The limits of an integer type of `bits` bits.
uint64_t ToInteger(const Instruction* i, const Value& v) {
  const int bits = 8 * ByteSize(i->type);
  const bool to_signed = IsSigned(i->type);
  if (v.is_float) {
    const double r = RoundToInteger(v.real, i->rounding);
    if (r != r) return i->from == Type::kF64 || bits == 64 ? 1ull << (bits - 1) : 0;
    const double limit = std::ldexp(1.0, to_signed ? bits - 1 : bits);
    if (to_signed) {
      if (r >= limit) return (1ull << (bits - 1)) - 1;
      if (r < -limit) return 0 - (1ull << (bits - 1));
      return static_cast<uint64_t>(static_cast<int64_t>(r));
    }
    if (r >= limit) return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return r <= 0 ? 0 : static_cast<uint64_t>(r);
  }
  if (!i->sat) return v.integer;
  const uint64_t high = to_signed ? (1ull << (bits - 1)) - 1 : (bits == 64 ? UINT64_MAX : (1ull << bits) - 1);
  if (v.is_signed && static_cast<int64_t>(v.integer) < 0) {
    if (!to_signed) return 0;
    const int64_t low = bits == 64 ? INT64_MIN : -(1ll << (bits - 1));
    return static_cast<uint64_t>(static_cast<int64_t>(v.integer) < low ? low : static_cast<int64_t>(v.integer));
  }
  return v.integer > high ? high : v.integer;
}

// Truncates to the type and extends to the register.
uint64_t Extend(Type type, uint64_t v) {
  switch (type) {
    case Type::kU8: return v & 0xff;
    case Type::kU16: return v & 0xffff;
    case Type::kU32: return v & UINT32_MAX;
    case Type::kS8: return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(v)));
    case Type::kS16: return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(v)));
    case Type::kS32: return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(v)));
    default: return v;
  }
}

// Compilers may convert an unsigned number by a subtraction, which makes 0 a -0 when rounding down. They know that no
// conversion gives one, hence volatile.
template <typename T>
T FromUnsigned(uint64_t integer) {
  volatile T converted = static_cast<T>(integer);
  const T real = converted;
  return real == 0 ? T(0) : real;
}

// Under the rounding mode that the instruction names (MXCSR is set by the caller).
template <typename T>
T ToReal(const Value& v) {
  if (v.is_float) return static_cast<T>(v.real);
  return v.is_signed ? static_cast<T>(static_cast<int64_t>(v.integer)) : FromUnsigned<T>(v.integer);
}

uint32_t ToSixteen(const Instruction* i, const Value& v) {
  const bool half = i->type == Type::kF16;
  if (i->rounding == Rounding::kZero || i->rounding == Rounding::kDown || i->rounding == Rounding::kUp) {
    const float f = ToReal<float>(v);  // a directed rounding twice is the same as once
    if (f != f) return 0x7fff;
    if (half) return static_cast<uint32_t>(_cvtss_sh(f, _MM_FROUND_CUR_DIRECTION));
    const auto bits = std::bit_cast<uint32_t>(f);
    const bool negative = bits >> 31;
    const bool away = (i->rounding == Rounding::kUp && !negative) || (i->rounding == Rounding::kDown && negative);
    return (bits >> 16) + ((away && (bits & 0xffff) && (bits & 0x7f800000) != 0x7f800000) ? 1 : 0);
  }
  // 64-bit integers do not fit a double: they saturate f16, and are rounded to odd explicitly for bf16.
  double d = ToReal<double>(v);
  if (!v.is_float && v.integer != 0) {
    const bool negative = v.is_signed && static_cast<int64_t>(v.integer) < 0;
    const uint64_t magnitude = negative ? 0 - v.integer : v.integer;
    const int shift = 64 - std::countl_zero(magnitude) - 40;
    if (shift > 0) {
      const uint64_t kept = (magnitude >> shift) | ((magnitude & ((1ull << shift) - 1)) != 0 ? 1 : 0);
      d = std::ldexp(static_cast<double>(kept), shift) * (negative ? -1 : 1);
    }
  }
  const float f = OddFloat(d);
  if (f != f && i->from == Type::kF64) {  // the payload is preserved
    const auto bits = std::bit_cast<uint32_t>(f);
    return half ? (bits >> 16 & 0x8000) | 0x7c00 | (bits >> 13 & 0x3ff) : bits >> 16;
  }
  return half ? HalfFormat::FromFloat(f) : Bf16Format::FromFloat(f);
}

uint64_t ConvertOne(const Instruction* i, uint64_t raw) {
  const Value v = Read(i, raw);
  switch (i->type) {
    case Type::kF16:
    case Type::kBf16: {
      Value w = v;
      if (i->rounding >= Rounding::kIntNearest) w.real = RoundToInteger(v.real, i->rounding);
      uint32_t bits = ToSixteen(i, w);
      const uint32_t exponent = i->type == Type::kF16 ? 0x7c00 : 0x7f80, one = i->type == Type::kF16 ? 0x3c00 : 0x3f80;
      const bool nan = (bits & 0x7fff) > exponent;
      if (i->relu && (bits & 0x8000) && !nan) bits = 0;
      if (i->sat) bits = (bits & 0x8000) || nan ? 0 : (bits > one ? one : bits);
      return bits;
    }
    case Type::kF32: {
      Value w = v;
      if (i->rounding >= Rounding::kIntNearest) w.real = RoundToInteger(v.real, i->rounding);
      float f = ToReal<float>(w);
      if (i->from != Type::kF64 && i->from != Type::kBf16) f = Canonical(f);  // those two keep a NaN's payload
      if (i->ftz) f = Flush(f);
      if (i->sat) f = Saturate(f);
      return std::bit_cast<uint32_t>(f);
    }
    case Type::kF64: {
      double d = ToReal<double>(v);
      if (i->rounding >= Rounding::kIntNearest) d = RoundToInteger(d, i->rounding);
      if (i->sat) d = Saturate(d);
      return std::bit_cast<uint64_t>(d);
    }
    default: return Extend(i->type, ToInteger(i, v));
  }
}

[[gnu::noinline]] void ConvertAll(Context& c, const Instruction* i, uint64_t* out) {
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (c.mask >> l) & 1 ? ConvertOne(i, Raw(c, i, l)) : 0;
}

const Instruction* ConvertLanes(Context& c, const Instruction* i) {
  alignas(64) uint64_t out[kLanes];
  const bool directed =
      i->rounding == Rounding::kZero || i->rounding == Rounding::kDown || i->rounding == Rounding::kUp;
  const unsigned before = _mm_getcsr();
  if (directed) {
    const unsigned mode = i->rounding == Rounding::kZero   ? _MM_ROUND_TOWARD_ZERO
                          : i->rounding == Rounding::kDown ? _MM_ROUND_DOWN
                                                           : _MM_ROUND_UP;
    _mm_setcsr((before & ~static_cast<unsigned>(_MM_ROUND_MASK)) | mode);
  }
  ConvertAll(c, i, out);
  if (directed) _mm_setcsr(before);
  if (i->wide_result) {
    uint64_t* d = Reg<uint64_t>(c, i->reg[0]);
    WW_LANES Write<false>(c, d, l, out[l]);
  } else {
    uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
    WW_LANES Write<false>(c, d, l, static_cast<uint32_t>(out[l]));
  }
  return i + 1;
}

// cvt.rz.f16x2.f32 and .relu
template <bool kHalf>
const Instruction* PackLanes(Context& c, const Instruction* i) {
  Instruction one = *i;
  one.type = kHalf ? Type::kF16 : Type::kBf16;
  const unsigned before = _mm_getcsr();
  if (i->rounding == Rounding::kZero)
    _mm_setcsr((before & ~static_cast<unsigned>(_MM_ROUND_MASK)) | _MM_ROUND_TOWARD_ZERO);
  alignas(64) uint64_t high[kLanes], low[kLanes];
  one.wide_source[0] = false;
  ConvertAll(c, &one, high);
  one.reg[1] = i->reg[2];
  ConvertAll(c, &one, low);
  _mm_setcsr(before);
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, d, l, static_cast<uint32_t>((high[l] << 16) | low[l]));
  return i + 1;
}

// To tf32: the low 13 bits become zero; a tie goes away from zero, or to the even neighbour.
template <Rounding kRounding>
struct ToTf32 {
  static uint32_t Run(uint32_t bits) {
    const uint32_t add = kRounding == Rounding::kNearestAway ? 0x1000
                         : kRounding == Rounding::kNearest   ? 0xfff + (bits >> 13 & 1)
                                                             : 0;
    const bool finite = (bits & 0x7f800000) != 0x7f800000, nan = (bits & 0x7fffffff) > 0x7f800000;
    return nan ? 0x7fffffffu : (bits + (finite ? add : 0)) & 0xffffe000;
  }
};

HandlerPair Fast(const Instruction& in) {
  const bool plain = !in.ftz && !in.sat && !in.relu;
  const bool nearest = in.rounding == Rounding::kDefault || in.rounding == Rounding::kNearest;
  if (in.type == Type::kF32 && in.from == Type::kF32 && in.sat && !in.ftz && nearest)
    return Of1<float, float, SatFloat>();
  if (!plain) return {};
  const bool natural = in.wide_result == (ByteSize(in.type) == 8) && in.wide_source[0] == (ByteSize(in.from) == 8);
  if (!natural) return {};
  if (nearest) {
    if (in.type == Type::kF32 && in.from == Type::kS32) return Of1<float, int32_t, IntToFloat>();
    if (in.type == Type::kF32 && in.from == Type::kU32) return Of1<float, uint32_t, IntToFloat>();
    if (in.type == Type::kF64 && in.from == Type::kF32) return Of1<double, float, Cast<double, float>>();
    if (in.type == Type::kF64 && in.from == Type::kS32) return Of1<double, int32_t, Cast<double, int32_t>>();
    if (in.type == Type::kF64 && in.from == Type::kU32) return Of1<double, uint32_t, Cast<double, uint32_t>>();
    if (in.type == Type::kF32 && in.from == Type::kF16)
      return {FromHalf<HalfFormat, false>, FromHalf<HalfFormat, true>};
    if (in.type == Type::kF32 && in.from == Type::kBf16)
      return {FromHalf<Bf16Format, false>, FromHalf<Bf16Format, true>};
    if (in.type == Type::kF16 && in.from == Type::kF32) return {ToHalf<HalfFormat, false>, ToHalf<HalfFormat, true>};
    if (in.type == Type::kBf16 && in.from == Type::kF32) return {ToHalf<Bf16Format, false>, ToHalf<Bf16Format, true>};
  }
  if (in.rounding == Rounding::kIntZero && in.from == Type::kF32) {
    if (in.type == Type::kS32) return Of1<int32_t, float, FloatToInt32<int32_t>>();
    if (in.type == Type::kU32) return Of1<uint32_t, float, FloatToInt32<uint32_t>>();
  }
  if (IsFloat(in.type) || IsFloat(in.from)) return {};
  const bool wide_to = ByteSize(in.type) == 8, from_word = ByteSize(in.from) == 4;
  if (wide_to && in.from == Type::kS32) return Of1<int64_t, int32_t, Cast<int64_t, int32_t>>();
  if (wide_to && in.from == Type::kU32) return Of1<uint64_t, uint32_t, Cast<uint64_t, uint32_t>>();
  if (ByteSize(in.type) == 4 && ByteSize(in.from) == 8) return Of1<uint32_t, uint64_t, Cast<uint32_t, uint64_t>>();
  if (ByteSize(in.type) == 4 && in.from == Type::kU16) return Of1<uint32_t, uint16_t, Cast<uint32_t, uint16_t>>();
  if (ByteSize(in.type) == 4 && in.from == Type::kS16) return Of1<int32_t, int16_t, Cast<int32_t, int16_t>>();
  if (in.type == Type::kU16 && from_word) return Of1<uint16_t, uint32_t, Cast<uint16_t, uint32_t>>();
  return {};
}

}  // namespace

HandlerPair SelectConvert(const Instruction& in) {
  if (in.op == Op::kConvertPack) {
    const bool half = in.type == Type::kF16x2;
    if (in.rounding != Rounding::kNearest || in.relu)
      return half ? HandlerPair{PackLanes<true>, PackLanes<true>} : HandlerPair{PackLanes<false>, PackLanes<false>};
    return half ? HandlerPair{ToPair<HalfFormat, false>, ToPair<HalfFormat, true>}
                : HandlerPair{ToPair<Bf16Format, false>, ToPair<Bf16Format, true>};
  }
  if (in.op != Op::kConvert) return {};
  if (in.type == Type::kTf32) {
    if (in.rounding == Rounding::kNearestAway) return Of1<uint32_t, uint32_t, ToTf32<Rounding::kNearestAway>>();
    if (in.rounding == Rounding::kNearest) return Of1<uint32_t, uint32_t, ToTf32<Rounding::kNearest>>();
    return Of1<uint32_t, uint32_t, ToTf32<Rounding::kZero>>();
  }
  if (const HandlerPair fast = Fast(in); fast.masked) return fast;
  return {ConvertLanes, ConvertLanes};
}

}  // namespace warpwright::sim::v3
