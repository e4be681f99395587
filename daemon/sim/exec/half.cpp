// f16 and bf16 arithmetic, single and packed: computed in double, rounded to odd, then once to 16 bits, which equals
// one correct rounding (going through f32 instead is wrong for fused operations).
#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {
namespace {

template <typename Format>
[[gnu::always_inline]] inline void Shape(const Instruction* i, uint32_t* bits) {
  if (i->relu) WW_LANES bits[l] = (bits[l] & 0x8000) && (bits[l] & 0x7fff) <= Format::kExponent ? 0 : bits[l];
  if (i->sat) {
    const uint32_t one = Format::kExponent == 0x7c00 ? 0x3c00 : 0x3f80;
    WW_LANES {
      const uint32_t b = bits[l];
      bits[l] = (b & 0x8000) || (b & 0x7fff) > Format::kExponent ? 0 : (b > one ? one : b);
    }
  }
}

template <typename Format>
[[gnu::always_inline]] inline void LoadOperand(const Instruction* i, const uint32_t* lanes, int shift, float* out) {
  if (i->ftz) {
    alignas(64) uint32_t flushed[kLanes];
    WW_LANES {
      const uint32_t b = (lanes[l] >> shift) & 0xffff;
      flushed[l] = (b & Format::kExponent) == 0 ? b & 0x8000 : b;
    }
    Format::Load(flushed, 0, out);
  } else {
    Format::Load(lanes, shift, out);
  }
}

struct Add {
  static constexpr int kArity = 2;
  static float Run(float a, float b, float) { return OddFloat(OddSum(a, b)); }
};
struct Sub {
  static constexpr int kArity = 2;
  static float Run(float a, float b, float) { return OddFloat(OddSum(a, -static_cast<double>(b))); }
};
struct Mul {
  static constexpr int kArity = 2;
  static float Run(float a, float b, float) { return OddFloat(static_cast<double>(a) * static_cast<double>(b)); }
};
struct Fma {
  static constexpr int kArity = 3;
  static float Run(float a, float b, float c) {
    return OddFloat(OddSum(static_cast<double>(a) * static_cast<double>(b), c));
  }
};
template <bool kMax, bool kNan>
struct MinMax {
  static constexpr int kArity = 2;
  static float Run(float a, float b, float) { return MinMaxOf<kMax, kNan>(a, b); }
};
template <bool kMax, bool kNan>
struct MinMaxXor {
  static constexpr int kArity = 2;
  static float Run(float a, float b, float) {
    const float r = MinMaxOf<kMax, kNan>(std::fabs(a), std::fabs(b));
    const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
    return r != r ? r : std::bit_cast<float>(std::bit_cast<uint32_t>(r) | sign);
  }
};

template <typename Format, typename F, bool kPair, bool kFull>
const Instruction* HalfOp(Context& c, const Instruction* i) {
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  alignas(64) float a[kLanes], b[kLanes], e[kLanes];
  alignas(64) uint32_t part[2][kLanes] = {};
  for (int k = 0; k < (kPair ? 2 : 1); ++k) {
    LoadOperand<Format>(i, Reg<uint32_t>(c, i->reg[1]), 16 * k, a);
    LoadOperand<Format>(i, Reg<uint32_t>(c, i->reg[2]), 16 * k, b);
    if (F::kArity == 3) {
      LoadOperand<Format>(i, Reg<uint32_t>(c, i->reg[3]), 16 * k, e);
      WW_LANES a[l] = F::Run(a[l], b[l], e[l]);
    } else {
      WW_LANES a[l] = F::Run(a[l], b[l], 0);
    }
    // With .ftz: flushed before the last rounding. bf16 arithmetic has no .ftz.
    if (i->ftz)
      WW_LANES a[l] =
          std::fabs(a[l]) < 0x1p-14f ? std::bit_cast<float>(std::bit_cast<uint32_t>(a[l]) & 0x80000000u) : a[l];
    Format::Store(a, part[k]);
    Shape<Format>(i, part[k]);
  }
  WW_LANES Write<kFull>(c, d, l, part[0][l] | (part[1][l] << 16));
  return i + 1;
}

struct AbsBits {
  static uint32_t Run(uint32_t a) { return a & 0x7fff7fffu; }
};
struct NegBits {
  static uint32_t Run(uint32_t a) { return a ^ 0x80008000u; }
};
template <typename Format, typename F>
struct FlushedBits {
  static uint32_t Run(uint32_t a) {
    const uint32_t low = a & 0xffff, high = a >> 16;
    const uint32_t x = (low & Format::kExponent) == 0 ? low & 0x8000 : low;
    const uint32_t y = (high & Format::kExponent) == 0 ? high & 0x8000 : high;
    return F::Run(x | (y << 16));
  }
};

template <typename Format, typename F>
HandlerPair Make(const Instruction& in) {
  const bool pair = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  return pair ? HandlerPair{HalfOp<Format, F, true, false>, HalfOp<Format, F, true, true>}
              : HandlerPair{HalfOp<Format, F, false, false>, HalfOp<Format, F, false, true>};
}

template <typename Format, bool kMax>
HandlerPair SelectMinMax(const Instruction& in) {
  if (in.xorsign) return in.nan ? Make<Format, MinMaxXor<kMax, true>>(in) : Make<Format, MinMaxXor<kMax, false>>(in);
  return in.nan ? Make<Format, MinMax<kMax, true>>(in) : Make<Format, MinMax<kMax, false>>(in);
}

template <typename Format>
HandlerPair SelectFormat(const Instruction& in) {
  switch (in.op) {
    case Op::kAdd: return Make<Format, Add>(in);
    case Op::kSub: return Make<Format, Sub>(in);
    case Op::kMul: return Make<Format, Mul>(in);
    case Op::kFma: return Make<Format, Fma>(in);
    case Op::kMin: return SelectMinMax<Format, false>(in);
    case Op::kMax: return SelectMinMax<Format, true>(in);
    case Op::kAbs:
      return in.ftz ? Of1<uint32_t, uint32_t, FlushedBits<Format, AbsBits>>() : Of1<uint32_t, uint32_t, AbsBits>();
    case Op::kNeg:
      return in.ftz ? Of1<uint32_t, uint32_t, FlushedBits<Format, NegBits>>() : Of1<uint32_t, uint32_t, NegBits>();
    default: return {};
  }
}

}  // namespace

HandlerPair SelectHalf(const Instruction& in) {
  if (in.type == Type::kF16 || in.type == Type::kF16x2) return SelectFormat<HalfFormat>(in);
  if (in.type == Type::kBf16 || in.type == Type::kBf16x2) return SelectFormat<Bf16Format>(in);
  return {};
}

}  // namespace warpwright::sim::v3
