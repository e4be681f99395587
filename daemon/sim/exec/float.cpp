// 32- and 64-bit arithmetic. The host's operations are IEEE exact, and so are PTX's, except for those called approx.
#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {
namespace {

struct Add {
  template <typename T>
  static T Op(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  static T Op(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  static T Op(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <typename T>
  static T Op(T a, T b) {
    return a / b;
  }
};
// The fast division: a divisor above 2^126 gives 0, or NaN for an infinite dividend.
struct DivApprox {
  static float Op(float a, float b) {
    const bool huge = std::fabs(b) > 8.507059173023462e37f && std::fabs(b) < std::bit_cast<float>(0x7f800000u);
    const float zero = std::bit_cast<float>((std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u);
    return huge ? zero * a : a / b;
  }
};
struct Fma {
  static float Op(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double Op(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
// With .ftz: a result that is subnormal before rounding is flushed, even if it rounds up to a normal number.
struct MulFlush {
  static float Op(float a, float b) {
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    const float r = a * b;
    const float zero = std::bit_cast<float>(std::bit_cast<uint32_t>(r) & 0x80000000u);
    return std::fabs(exact) < 0x1p-126 ? zero : r;
  }
};
struct FmaFlush {
  static float Op(float a, float b, float c) {
    const double near = OddSum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
    const float r = __builtin_fmaf(a, b, c);
    const float zero = std::bit_cast<float>(std::bit_cast<uint32_t>(r) & 0x80000000u);
    return std::fabs(near) < 0x1p-126 ? zero : r;
  }
};
struct Rcp {
  template <typename T>
  static T Op(T a) {
    return T(1) / a;
  }
};
struct Sqrt {
  static float Op(float a) { return __builtin_sqrtf(a); }
  static double Op(double a) { return __builtin_sqrt(a); }
};

template <typename F, bool kFtz, bool kSat>
struct Shaped {
  template <typename T>
  static T In(T a) {
    return kFtz ? Flush(a) : a;
  }
  template <typename T>
  static T Out(T r) {
    r = Canonical(r);
    if (kFtz) r = Flush(r);
    return kSat ? Saturate(r) : r;
  }
  template <typename T>
  static T Run(T a) {
    return Out(F::Op(In(a)));
  }
  template <typename T>
  static T Run(T a, T b) {
    return Out(F::Op(In(a), In(b)));
  }
  template <typename T>
  static T Run(T a, T b, T c) {
    return Out(F::Op(In(a), In(b), In(c)));
  }
};

// Runs the handler under another rounding mode. The handler is not inlined, so that its operations stay between the two
// writes of MXCSR.
[[gnu::noinline]] const Instruction* CallHandler(Handler handler, Context& c, const Instruction* i) {
  return handler(c, i);
}
template <Handler kHandler>
const Instruction* Directed(Context& c, const Instruction* i) {
  const unsigned before = _mm_getcsr();
  const unsigned mode = i->rounding == Rounding::kZero   ? _MM_ROUND_TOWARD_ZERO
                        : i->rounding == Rounding::kDown ? _MM_ROUND_DOWN
                                                         : _MM_ROUND_UP;
  _mm_setcsr((before & ~static_cast<unsigned>(_MM_ROUND_MASK)) | mode);
  const Instruction* next = CallHandler(kHandler, c, i);
  _mm_setcsr(before);
  return next;
}

template <int kArity, typename T, typename F, bool kFull>
constexpr Handler HandlerOf() {
  if constexpr (kArity == 1) return Map1<T, T, F, kFull>;
  else if constexpr (kArity == 2) return Map2<T, T, T, F, kFull>;
  else return Map3<T, T, T, T, F, kFull>;
}

template <int kArity, typename T, typename F>
HandlerPair Make(const Instruction& in) {
  constexpr Handler masked = HandlerOf<kArity, T, F, false>(), full = HandlerOf<kArity, T, F, true>();
  if (in.rounding == Rounding::kZero || in.rounding == Rounding::kDown || in.rounding == Rounding::kUp)
    return {Directed<masked>, Directed<full>};
  return {masked, full};
}

template <int kArity, typename F>
HandlerPair Choose(const Instruction& in) {
  if constexpr (!std::is_same_v<F, MulFlush> && !std::is_same_v<F, FmaFlush>)
    if (in.type == Type::kF64)
      return in.sat ? Make<kArity, double, Shaped<F, false, true>>(in)
                    : Make<kArity, double, Shaped<F, false, false>>(in);
  if (in.type != Type::kF32) return {};
  if (in.ftz)
    return in.sat ? Make<kArity, float, Shaped<F, true, true>>(in) : Make<kArity, float, Shaped<F, true, false>>(in);
  return in.sat ? Make<kArity, float, Shaped<F, false, true>>(in) : Make<kArity, float, Shaped<F, false, false>>(in);
}

template <bool kMax, bool kNan, bool kFtz, bool kXorSign>
struct MinMax {
  template <typename T>
  static T Run(T a, T b) {
    if (kFtz) a = Flush(a), b = Flush(b);
    if constexpr (kXorSign) {
      const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
      const T r = MinMaxOf<kMax, kNan>(std::fabs(a), std::fabs(b));
      // NOLINTNEXTLINE(misc-redundant-expression): what is not itself is no number
      return r != r ? r : std::bit_cast<T>(std::bit_cast<uint32_t>(r) | ((x ^ y) & 0x80000000u));
    } else {
      return MinMaxOf<kMax, kNan>(a, b);
    }
  }
};

template <bool kMax>
HandlerPair SelectMinMax(const Instruction& in) {
  if (in.type == Type::kF64) return Of2<double, double, double, MinMax<kMax, false, false, false>>();
  if (in.type != Type::kF32) return {};
  if (in.xorsign) {
    if (in.nan)
      return in.ftz ? Of2<float, float, float, MinMax<kMax, true, true, true>>()
                    : Of2<float, float, float, MinMax<kMax, true, false, true>>();
    return in.ftz ? Of2<float, float, float, MinMax<kMax, false, true, true>>()
                  : Of2<float, float, float, MinMax<kMax, false, false, true>>();
  }
  if (in.nan)
    return in.ftz ? Of2<float, float, float, MinMax<kMax, true, true, false>>()
                  : Of2<float, float, float, MinMax<kMax, true, false, false>>();
  return in.ftz ? Of2<float, float, float, MinMax<kMax, false, true, false>>()
                : Of2<float, float, float, MinMax<kMax, false, false, false>>();
}

template <typename T>
constexpr T kSign = T{1} << (8 * sizeof(T) - 1);

template <bool kFtz>
struct AbsBits {
  template <typename T>
  static T Run(T a) {
    if (kFtz && sizeof(T) == 4 && (a & 0x7f800000) == 0) return 0;
    return a & ~kSign<T>;
  }
};
template <bool kFtz>
struct NegBits {
  template <typename T>
  static T Run(T a) {
    if (kFtz && sizeof(T) == 4 && (a & 0x7f800000) == 0) a &= kSign<T>;
    return a ^ kSign<T>;
  }
};
struct CopySign {  // the sign of the first, the value of the second
  template <typename T>
  static T Run(T a, T b) {
    return (a & kSign<T>) | (b & ~kSign<T>);
  }
};

template <typename U>
const Instruction* TestProperty(Context& c, const Instruction* i) {
  const U* a = Reg<U>(c, i->reg[1]);
  constexpr U kExponent = sizeof(U) == 8 ? static_cast<U>(0x7ff0000000000000ull) : static_cast<U>(0x7f800000u);
  uint32_t mask = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const U value = a[l] & ~kSign<U>, exponent = value & kExponent;
    bool yes = false;
    switch (static_cast<TestMode>(i->mode)) {
      case TestMode::kFinite: yes = exponent != kExponent; break;
      case TestMode::kInfinite: yes = value == kExponent; break;
      case TestMode::kNumber: yes = value <= kExponent; break;
      case TestMode::kNotANumber: yes = value > kExponent; break;
      case TestMode::kNormal: yes = exponent != kExponent && (exponent != 0 || value == 0); break;  // zero is normal
      case TestMode::kSubnormal: yes = exponent == 0 && value != 0; break;
    }
    mask |= static_cast<uint32_t>(yes) << l;
  }
  WritePredicate(c, i->reg[0], mask);
  return i + 1;
}

template <typename F32, typename F64>
HandlerPair Bitwise1(const Instruction& in) {
  if (in.type == Type::kF64) return Of1<uint64_t, uint64_t, F64>();
  return in.type == Type::kF32 ? Of1<uint32_t, uint32_t, F32>() : HandlerPair{};
}

}  // namespace

HandlerPair SelectFloat(const Instruction& in) {
  switch (in.op) {
    case Op::kAdd: return Choose<2, Add>(in);
    case Op::kSub: return Choose<2, Sub>(in);
    case Op::kMul: return in.ftz ? Choose<2, MulFlush>(in) : Choose<2, Mul>(in);
    case Op::kFma: return in.ftz ? Choose<3, FmaFlush>(in) : Choose<3, Fma>(in);
    case Op::kDiv:
      if (in.approx && in.type == Type::kF32)
        return in.ftz ? Of2<float, float, float, Shaped<DivApprox, true, false>>()
                      : Of2<float, float, float, Shaped<DivApprox, false, false>>();
      return Choose<2, Div>(in);
    case Op::kRcp: return Choose<1, Rcp>(in);
    case Op::kSqrt: return Choose<1, Sqrt>(in);
    case Op::kMin: return SelectMinMax<false>(in);
    case Op::kMax: return SelectMinMax<true>(in);
    case Op::kAbs:
      return in.ftz ? Bitwise1<AbsBits<true>, AbsBits<false>>(in) : Bitwise1<AbsBits<false>, AbsBits<false>>(in);
    case Op::kNeg:
      return in.ftz ? Bitwise1<NegBits<true>, NegBits<false>>(in) : Bitwise1<NegBits<false>, NegBits<false>>(in);
    case Op::kCopysign:
      return in.type == Type::kF64 ? Of2<uint64_t, uint64_t, uint64_t, CopySign>()
                                   : Of2<uint32_t, uint32_t, uint32_t, CopySign>();
    case Op::kTestp:
      return in.type == Type::kF64 ? HandlerPair{TestProperty<uint64_t>, TestProperty<uint64_t>}
                                   : HandlerPair{TestProperty<uint32_t>, TestProperty<uint32_t>};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
