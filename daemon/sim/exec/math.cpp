// The approximate functions. The hardware's results differ from ours in the last bits, inevitably: compare with a
// tolerance.
#include "sim/approximation.h"
#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {
namespace {

constexpr double kInf = __builtin_inf();

struct Ex2 {
  static double Op(double x) { return Exp2(x); }
};

struct Lg2 {
  static double Op(double x) {
    const auto bits = std::bit_cast<uint64_t>(x);
    auto exponent = static_cast<int32_t>(bits >> 52) - 1023;
    double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    const bool high = m > 1.4142135623730951;
    m = high ? m * 0.5 : m;
    exponent += high ? 1 : 0;
    const double s = (m - 1) / (m + 1), q = s * s;
    double p = 1.0 / 15;
    p = p * q + 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    p = p * q + 1.0;
    double r = NearOne(static_cast<double>(exponent) + p * s * 2.8853900817779268);  // 2 / ln 2
    r = x == 0 ? -kInf : r;
    r = x < 0 || x != x ? std::bit_cast<double>(0x7ff8000000000000ull) : r;
    return x == kInf ? kInf : r;
  }
};

// Quarter turns: sine and cosine of the rest, chosen by the quadrant.
[[gnu::always_inline]] inline double Circle(double x, int quarter_offset) {
  const double magic = 6755399441055744.0;
  const double shifted = x * 0.63661977236758134 + magic;
  const double n = shifted - magic;
  double r = __builtin_fma(-n, 1.5707963267948966, x);
  r = __builtin_fma(-n, 6.123233995736766e-17, r);
  r = r > 0.8 ? 0.8 : (r < -0.8 ? -0.8 : r);  // beyond 2^52 quarter turns no meaningful remainder is left
  const double q = r * r;
  double s = -2.5052108385441718e-8;
  s = s * q + 2.7557319223985893e-6;
  s = s * q - 1.9841269841269841e-4;
  s = s * q + 8.3333333333333333e-3;
  s = s * q - 1.6666666666666667e-1;
  s = r + r * q * s;
  double k = 2.0876756987868099e-9;
  k = k * q - 2.7557319223985888e-7;
  k = k * q + 2.4801587301587302e-5;
  k = k * q - 1.3888888888888889e-3;
  k = k * q + 4.1666666666666664e-2;
  k = 1.0 - 0.5 * q + q * q * k;
  const uint64_t quadrant = std::bit_cast<uint64_t>(shifted) + static_cast<uint64_t>(quarter_offset);
  const double v = quadrant & 1 ? k : s;
  const double signed_value = quadrant & 2 ? -v : v;
  return std::fabs(x) <= 1.0e300 ? signed_value : std::bit_cast<double>(0x7ff8000000000000ull);
}
struct Sin {
  static double Op(double x) { return x == 0 ? x : Circle(AngleOfTurns(x), 0); }
};
struct Cos {
  static double Op(double x) { return Circle(AngleOfTurns(x), 1); }
};
struct Tanh {
  static double Op(double x) {
    const double clamped = x > 20 ? 20.0 : (x < -20 ? -20.0 : x);
    const double t = Exp2(clamped * 2.8853900817779268);
    const double r = (t - 1) / (t + 1);
    return x != x ? x : ToElevenBits(std::fabs(x) < 1e-4 ? x : r);
  }
};
struct Rsqrt {
  static double Op(double x) {
    const double r = 1.0 / __builtin_sqrt(x);
    return r;
  }
};

template <typename F, bool kFtz>
struct Approximate {
  static float Run(float a) {
    if (kFtz) a = Flush(a);
    const float r = Canonical(static_cast<float>(F::Op(static_cast<double>(a))));
    return kFtz ? Flush(r) : r;
  }
};
template <typename F>
HandlerPair Make(const Instruction& in) {
  return in.ftz ? Of1<float, float, Approximate<F, true>>() : Of1<float, float, Approximate<F, false>>();
}
struct RsqrtDouble {
  static double Run(double x) { return 1.0 / __builtin_sqrt(x); }
};

template <typename Format, typename F, bool kFull>
const Instruction* HalfLanes(Context& c, const Instruction* i) {
  const bool pair = i->type == Type::kF16x2 || i->type == Type::kBf16x2;
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  const uint32_t* a = Reg<uint32_t>(c, i->reg[1]);
  alignas(64) float x[kLanes];
  alignas(64) uint32_t low[kLanes], high[kLanes] = {};
  Format::Load(a, 0, x);
  WW_LANES x[l] = static_cast<float>(F::Op(static_cast<double>(x[l])));
  Format::Store(x, low);
  if (pair) {
    Format::Load(a, 16, x);
    WW_LANES x[l] = static_cast<float>(F::Op(static_cast<double>(x[l])));
    Format::Store(x, high);
  }
  if (i->ftz) {
    WW_LANES low[l] = (low[l] & Format::kExponent) == 0 ? low[l] & 0x8000 : low[l];
    WW_LANES high[l] = (high[l] & Format::kExponent) == 0 ? high[l] & 0x8000 : high[l];
  }
  WW_LANES Write<kFull>(c, d, l, low[l] | (high[l] << 16));
  return i + 1;
}
template <typename F>
HandlerPair MakeHalf(const Instruction& in) {
  if (in.type == Type::kF16 || in.type == Type::kF16x2)
    return {HalfLanes<HalfFormat, F, false>, HalfLanes<HalfFormat, F, true>};
  if (in.type == Type::kBf16 || in.type == Type::kBf16x2)
    return {HalfLanes<Bf16Format, F, false>, HalfLanes<Bf16Format, F, true>};
  return {};
}

}  // namespace

HandlerPair SelectMath(const Instruction& in) {
  if (in.type == Type::kF64) return in.op == Op::kRsqrt ? Of1<double, double, RsqrtDouble>() : HandlerPair{};
  if (in.type != Type::kF32) {
    if (in.op == Op::kEx2) return MakeHalf<Ex2>(in);
    return in.op == Op::kTanh ? MakeHalf<Tanh>(in) : HandlerPair{};
  }
  switch (in.op) {
    case Op::kEx2: return Make<Ex2>(in);
    case Op::kLg2: return Make<Lg2>(in);
    case Op::kSin: return Make<Sin>(in);
    case Op::kCos: return Make<Cos>(in);
    case Op::kTanh: return Make<Tanh>(in);
    case Op::kRsqrt: return Make<Rsqrt>(in);
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
