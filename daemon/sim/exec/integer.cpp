// Integer arithmetic. Everything is computed on unsigned values, so that overflow wraps; the host's traps (division by
// zero, INT_MIN / -1) are avoided.
#include <limits>

#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, Int128, Uint128>>>;

struct Add {
  template <typename T>
  static T Run(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T Run(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
int32_t Clamp(int64_t v) { return static_cast<int32_t>(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); }
struct AddSat {
  static int32_t Run(int32_t a, int32_t b) { return Clamp(static_cast<int64_t>(a) + b); }
};
struct SubSat {
  static int32_t Run(int32_t a, int32_t b) { return Clamp(static_cast<int64_t>(a) - b); }
};
// Products of 16-bit values would be computed as int, which may overflow: they are widened to 32 unsigned bits.
template <typename T>
T MulLo(T a, T b) {
  if constexpr (sizeof(T) == 2) return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
  else return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}
template <typename T>
T MulHi(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
}
struct Lo {
  template <typename T>
  static T Run(T a, T b) {
    return MulLo(a, b);
  }
  template <typename T>
  static T Run(T a, T b, T c) {
    return Add::Run(MulLo(a, b), c);
  }
};
struct Hi {
  template <typename T>
  static T Run(T a, T b) {
    return MulHi(a, b);
  }
  template <typename T>
  static T Run(T a, T b, T c) {
    return Add::Run(MulHi(a, b), c);
  }
};
struct HiSat {
  static int32_t Run(int32_t a, int32_t b, int32_t c) { return Clamp(static_cast<int64_t>(MulHi(a, b)) + c); }
};
struct WideMul {
  template <typename T>
  static Wide<T> Run(T a, T b) {
    return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
  }
  template <typename T>
  static Wide<T> Run(T a, T b, Wide<T> c) {
    return Add::Run(static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)), c);
  }
};
template <bool kHigh, typename T>
T Product24(T a, T b) {
  int64_t p;
  if constexpr (std::is_signed_v<T>) {
    p = static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8) *
        (static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
  } else {
    p = static_cast<int64_t>(a & 0xffffff) * static_cast<int64_t>(b & 0xffffff);
  }
  return static_cast<T>(kHigh ? p >> 16 : p);
}
template <bool kHigh>
struct Mul24 {
  template <typename T>
  static T Run(T a, T b) {
    return Product24<kHigh>(a, b);
  }
  template <typename T>
  static T Run(T a, T b, T c) {
    return Add::Run(Product24<kHigh>(a, b), c);
  }
};
struct Sad {
  template <typename T>
  static T Run(T a, T b, T c) {
    return Add::Run(c, a < b ? Sub::Run(b, a) : Sub::Run(a, b));
  }
};
// 32-bit quotients through double are exact: 53 bits hold the operands, and a quotient that is not an integer is
// further from the nearest one than the rounding error.
template <typename T>
T Quotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    if constexpr (std::is_signed_v<T>) {
      const double q = b == 0 ? -1.0 : static_cast<double>(a) / static_cast<double>(b);
      return static_cast<T>(static_cast<int64_t>(q));
    } else {
      return b == 0 ? static_cast<T>(~T{0})
                    : static_cast<T>(static_cast<int64_t>(static_cast<double>(a) / static_cast<double>(b)));
    }
  } else {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub::Run(T{0}, a);
    return static_cast<T>(a / b);
  }
}
struct Div {
  template <typename T>
  static T Run(T a, T b) {
    return Quotient(a, b);
  }
};
struct Rem {
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      return static_cast<T>(a % b);
    } else {
      return b == 0 ? a : Sub::Run(a, MulLo(Quotient(a, b), b));
    }
  }
};
struct Abs {
  template <typename T>
  static T Run(T a) {
    return a < 0 ? Sub::Run(T{0}, a) : a;
  }
};
struct Neg {
  template <typename T>
  static T Run(T a) {
    return Sub::Run(T{0}, a);
  }
};
struct Min {
  template <typename T>
  static T Run(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T>
  static T Run(T a, T b) {
    return a < b ? b : a;
  }
};
struct MinRelu {
  static int32_t Run(int32_t a, int32_t b) { return Max::Run(Min::Run(a, b), 0); }
};
struct MaxRelu {
  static int32_t Run(int32_t a, int32_t b) { return Max::Run(Max::Run(a, b), 0); }
};

// Sums of three terms with the carry of 32 or 64 bits. For subtraction the flag is a borrow.
template <typename T>
const Instruction* Carry(Context& c, const Instruction* i) {
  T* d = Reg<T>(c, i->reg[0]);
  const uint32_t in = i->carry_in ? *Reg<uint32_t>(c, i->reg[i->operands - 1]) : 0;
  const T *a = Reg<T>(c, i->reg[i->defs]), *b = Reg<T>(c, i->reg[i->defs + 1]);
  const bool subtract = i->op == Op::kSubCarry, mad = i->op == Op::kMadCarry, is_signed = IsSigned(i->type);
  const T* addend = mad ? Reg<T>(c, i->reg[i->defs + 2]) : b;
  uint32_t out = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1)) continue;
    T x = a[l], y = b[l];
    if (mad) {
      using S = std::make_signed_t<T>;
      if (i->mul == MulMode::kHi)
        x = is_signed ? static_cast<T>(MulHi(static_cast<S>(x), static_cast<S>(y))) : MulHi(x, y);
      else x = x * y;
      y = addend[l];
    }
    const Uint128 carry = (in >> l) & 1;
    const Uint128 sum = subtract ? static_cast<Uint128>(x) - y - carry : static_cast<Uint128>(x) + y + carry;
    d[l] = static_cast<T>(sum);
    out |= static_cast<uint32_t>((sum >> (8 * sizeof(T))) & 1) << l;
  }
  if (i->carry_out) WritePredicate(c, i->reg[1], out);
  return i + 1;
}

template <typename F>
HandlerPair ByType2(Type type) {
  switch (type) {
    case Type::kU16: return Of2<uint16_t, uint16_t, uint16_t, F>();
    case Type::kS16: return Of2<int16_t, int16_t, int16_t, F>();
    case Type::kU32: return Of2<uint32_t, uint32_t, uint32_t, F>();
    case Type::kS32: return Of2<int32_t, int32_t, int32_t, F>();
    case Type::kU64: return Of2<uint64_t, uint64_t, uint64_t, F>();
    case Type::kS64: return Of2<int64_t, int64_t, int64_t, F>();
    default: return {};
  }
}
template <typename F>
HandlerPair ByType3(Type type) {
  switch (type) {
    case Type::kU16: return Of3<uint16_t, uint16_t, uint16_t, uint16_t, F>();
    case Type::kS16: return Of3<int16_t, int16_t, int16_t, int16_t, F>();
    case Type::kU32: return Of3<uint32_t, uint32_t, uint32_t, uint32_t, F>();
    case Type::kS32: return Of3<int32_t, int32_t, int32_t, int32_t, F>();
    case Type::kU64: return Of3<uint64_t, uint64_t, uint64_t, uint64_t, F>();
    case Type::kS64: return Of3<int64_t, int64_t, int64_t, int64_t, F>();
    default: return {};
  }
}
template <typename F>
HandlerPair BySigned1(Type type) {
  switch (type) {
    case Type::kS16: return Of1<int16_t, int16_t, F>();
    case Type::kS32: return Of1<int32_t, int32_t, F>();
    case Type::kS64: return Of1<int64_t, int64_t, F>();
    default: return {};
  }
}

HandlerPair SelectMul(const Instruction& in) {
  if (in.mul == MulMode::kLo) return ByType2<Lo>(in.type);
  if (in.mul == MulMode::kHi) return ByType2<Hi>(in.type);
  switch (in.type) {
    case Type::kU16: return Of2<uint32_t, uint16_t, uint16_t, WideMul>();
    case Type::kS16: return Of2<int32_t, int16_t, int16_t, WideMul>();
    case Type::kU32: return Of2<uint64_t, uint32_t, uint32_t, WideMul>();
    case Type::kS32: return Of2<int64_t, int32_t, int32_t, WideMul>();
    default: return {};
  }
}

HandlerPair SelectMad(const Instruction& in) {
  if (in.sat) return Of3<int32_t, int32_t, int32_t, int32_t, HiSat>();
  if (in.mul == MulMode::kLo) return ByType3<Lo>(in.type);
  if (in.mul == MulMode::kHi) return ByType3<Hi>(in.type);
  switch (in.type) {
    case Type::kU16: return Of3<uint32_t, uint16_t, uint16_t, uint32_t, WideMul>();
    case Type::kS16: return Of3<int32_t, int16_t, int16_t, int32_t, WideMul>();
    case Type::kU32: return Of3<uint64_t, uint32_t, uint32_t, uint64_t, WideMul>();
    case Type::kS32: return Of3<int64_t, int32_t, int32_t, int64_t, WideMul>();
    default: return {};
  }
}

HandlerPair SelectMul24(const Instruction& in) {
  const bool high = in.mul == MulMode::kHi, is_signed = in.type == Type::kS32;
  if (in.op == Op::kMul24) {
    if (is_signed)
      return high ? Of2<int32_t, int32_t, int32_t, Mul24<true>>() : Of2<int32_t, int32_t, int32_t, Mul24<false>>();
    return high ? Of2<uint32_t, uint32_t, uint32_t, Mul24<true>>() : Of2<uint32_t, uint32_t, uint32_t, Mul24<false>>();
  }
  if (is_signed)
    return high ? Of3<int32_t, int32_t, int32_t, int32_t, Mul24<true>>()
                : Of3<int32_t, int32_t, int32_t, int32_t, Mul24<false>>();
  return high ? Of3<uint32_t, uint32_t, uint32_t, uint32_t, Mul24<true>>()
              : Of3<uint32_t, uint32_t, uint32_t, uint32_t, Mul24<false>>();
}

}  // namespace

HandlerPair SelectInteger(const Instruction& in) {
  if (IsFloat(in.type)) return {};
  switch (in.op) {
    case Op::kAdd: return in.sat ? Of2<int32_t, int32_t, int32_t, AddSat>() : ByType2<Add>(in.type);
    case Op::kSub: return in.sat ? Of2<int32_t, int32_t, int32_t, SubSat>() : ByType2<Sub>(in.type);
    case Op::kMul: return SelectMul(in);
    case Op::kMad: return SelectMad(in);
    case Op::kMul24:
    case Op::kMad24: return SelectMul24(in);
    case Op::kSad: return ByType3<Sad>(in.type);
    case Op::kDiv: return ByType2<Div>(in.type);
    case Op::kRem: return ByType2<Rem>(in.type);
    case Op::kAbs: return BySigned1<Abs>(in.type);
    case Op::kNeg: return BySigned1<Neg>(in.type);
    case Op::kMin: return in.relu ? Of2<int32_t, int32_t, int32_t, MinRelu>() : ByType2<Min>(in.type);
    case Op::kMax: return in.relu ? Of2<int32_t, int32_t, int32_t, MaxRelu>() : ByType2<Max>(in.type);
    case Op::kAddCarry:
    case Op::kSubCarry:
    case Op::kMadCarry:
      return ByteSize(in.type) == 8 ? HandlerPair{Carry<uint64_t>, Carry<uint64_t>}
                                    : HandlerPair{Carry<uint32_t>, Carry<uint32_t>};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
