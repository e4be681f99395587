// Logic, shifts and bit fields. Shift counts above the width are clamped, as PTX specifies; x86 would take them modulo
// 32.
#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {
namespace {

struct And {
  template <typename T>
  static T Run(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T Run(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T Run(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T Run(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  static T Run(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Shl {
  template <typename T>
  static T Run(T a, uint32_t n) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(n >= kBits ? U{0} : static_cast<U>(a) << (n & (sizeof(T) == 8 ? 63 : 31)));
  }
};
struct Shr {
  template <typename T>
  static T Run(T a, uint32_t n) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t count = n >= kBits ? kBits - 1 : n;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> count);
    else return n >= kBits ? T{0} : static_cast<T>(a >> count);
  }
};
template <typename T>
struct Popc {
  static uint32_t Run(T a) { return static_cast<uint32_t>(std::popcount(a)); }
};
template <typename T>
struct Clz {
  static uint32_t Run(T a) { return static_cast<uint32_t>(std::countl_zero(a)); }
};
template <typename T, bool kShift>
struct Bfind {
  static uint32_t Run(T a) {
    using U = std::make_unsigned_t<T>;
    const U v = std::is_signed_v<T> && a < T{0} ? static_cast<U>(~a) : static_cast<U>(a);
    if (v == 0) return UINT32_MAX;
    const auto zeros = static_cast<uint32_t>(std::countl_zero(v));
    return kShift ? zeros : static_cast<uint32_t>(8 * sizeof(T) - 1) - zeros;
  }
};
struct Brev {
  static uint32_t Run(uint32_t v) {
    v = ((v >> 1) & 0x55555555) | ((v & 0x55555555) << 1);
    v = ((v >> 2) & 0x33333333) | ((v & 0x33333333) << 2);
    v = ((v >> 4) & 0x0f0f0f0f) | ((v & 0x0f0f0f0f) << 4);
    return __builtin_bswap32(v);
  }
  static uint64_t Run(uint64_t v) {
    return (static_cast<uint64_t>(Run(static_cast<uint32_t>(v))) << 32) | Run(static_cast<uint32_t>(v >> 32));
  }
};
struct Bfe {
  template <typename T>
  static T Run(T a, uint32_t pos, uint32_t len) {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kMsb = 8 * sizeof(T) - 1;
    if (sizeof(T) == 4) pos &= 0xff, len &= 0xff;  // the hardware takes all bits of the counts for 64-bit fields
    bool sign = false;
    if (std::is_signed_v<T> && len != 0) {
      const uint64_t last = static_cast<uint64_t>(pos) + len - 1;
      sign = (static_cast<U>(a) >> (last < kMsb ? last : kMsb)) & 1;
    }
    const U field = pos > kMsb ? U{0} : static_cast<U>(static_cast<U>(a) >> pos);
    const uint32_t have = pos > kMsb ? 0 : (len < kMsb + 1 - pos ? len : kMsb + 1 - pos);
    const U keep = have > kMsb ? ~U{0} : (U{1} << have) - 1;
    return static_cast<T>((field & keep) | (sign ? ~keep : U{0}));
  }
};
struct Bfi {
  template <typename T>
  static T Run(T a, T b, uint32_t pos, uint32_t len) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (sizeof(T) == 4) pos &= 0xff, len &= 0xff;
    if (pos >= kBits || len == 0) return b;
    if (len > kBits - pos) len = kBits - pos;
    const T field = (len >= kBits ? ~T{0} : (T{1} << len) - 1) << pos;
    return (b & ~field) | ((a << pos) & field);
  }
};
template <bool kWrap>
struct Bmsk {
  static uint32_t Run(uint32_t pos, uint32_t len) {
    if (kWrap) pos &= 31, len &= 31;
    if (pos >= 32 || len == 0) return 0;
    const uint32_t ones = len >= 32 ? UINT32_MAX : (1u << len) - 1;
    return ones << pos;
  }
};
template <bool kWrap>
struct Szext {
  template <typename T>
  static T Run(T a, uint32_t bits) {
    if (kWrap) bits &= 31;
    if (bits >= 32) return a;
    if (bits == 0) return 0;
    const uint32_t up = 32 - bits;
    return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << up) >> up);
  }
};
// The position of the n-th set bit of a, counted from `base` upwards (n > 0) or downwards (n < 0).
struct Fns {
  static uint32_t Run(uint32_t a, uint32_t base, int32_t n) {
    if (base > 31) return UINT32_MAX;
    if (n == 0) return (a >> base) & 1 ? base : UINT32_MAX;
    int32_t left = n < 0 ? (n < -33 ? 33 : -n) : n;
    for (auto at = static_cast<int32_t>(base); at >= 0 && at < 32; at += n < 0 ? -1 : 1)
      if (((a >> at) & 1) && --left == 0) return static_cast<uint32_t>(at);
    return UINT32_MAX;
  }
};
template <bool kRight, bool kWrap>
struct Shf {
  static uint32_t Run(uint32_t a, uint32_t b, uint32_t n) {
    const uint32_t count = kWrap ? n & 31 : (n > 32 ? 32 : n);
    const uint64_t pair = (static_cast<uint64_t>(b) << 32) | a;
    return static_cast<uint32_t>(kRight ? pair >> count : (pair << count) >> 32);
  }
};
struct Prmt {
  static uint32_t Run(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = (static_cast<uint64_t>(b) << 32) | a;
    uint32_t out = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t s = (selector >> (4 * k)) & 15;
      uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (s & 7))) & 0xff;
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;
      out |= byte << (8 * k);
    }
    return out;
  }
};
template <PrmtMode kMode>
struct PrmtSpecial {
  static uint32_t Run(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t s = c & 3;
    uint32_t selector = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t n = 0;
      switch (kMode) {
        case PrmtMode::kF4e: n = s + k; break;
        case PrmtMode::kB4e: n = (s - k) & 7; break;
        case PrmtMode::kRc8: n = s; break;
        case PrmtMode::kEcl: n = k > s ? k : s; break;
        case PrmtMode::kEcr: n = k < s ? k : s; break;
        default: n = (s & 1) * 2 + (k & 1); break;
      }
      selector |= n << (4 * k);
    }
    return Prmt::Run(a, b, selector);
  }
};

template <int kSigns>
struct Dp4a {
  static uint32_t Run(uint32_t a, uint32_t b, uint32_t c) {
    for (int k = 0; k < 4; ++k) {
      const uint8_t x = static_cast<uint8_t>(a >> (8 * k)), y = static_cast<uint8_t>(b >> (8 * k));
      const int32_t p = (kSigns & 1 ? static_cast<int8_t>(x) : static_cast<int32_t>(x)) *
                        (kSigns & 2 ? static_cast<int8_t>(y) : static_cast<int32_t>(y));
      c += static_cast<uint32_t>(p);
    }
    return c;
  }
};
template <int kSigns, bool kHigh>
struct Dp2a {
  static uint32_t Run(uint32_t a, uint32_t b, uint32_t c) {
    for (int k = 0; k < 2; ++k) {
      const uint16_t x = static_cast<uint16_t>(a >> (16 * k));
      const uint8_t y = static_cast<uint8_t>(b >> (8 * (k + (kHigh ? 2 : 0))));
      const int32_t p = (kSigns & 1 ? static_cast<int16_t>(x) : static_cast<int32_t>(x)) *
                        (kSigns & 2 ? static_cast<int8_t>(y) : static_cast<int32_t>(y));
      c += static_cast<uint32_t>(p);
    }
    return c;
  }
};

// The table's bit (a << 2 | b << 1 | c) is the result for these bits; the sum of products is evaluated over the eight
// terms.
template <bool kFull>
const Instruction* Lop3(Context& c, const Instruction* i) {
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  const uint32_t *a = Reg<uint32_t>(c, i->reg[1]), *b = Reg<uint32_t>(c, i->reg[2]), *e = Reg<uint32_t>(c, i->reg[3]);
  uint32_t term[8];
  for (int k = 0; k < 8; ++k) term[k] = (i->immediate >> k) & 1 ? UINT32_MAX : 0;
  WW_LANES {
    const uint32_t x = a[l], y = b[l], z = e[l];
    const uint32_t low = (~y & ((~z & term[0]) | (z & term[1]))) | (y & ((~z & term[2]) | (z & term[3])));
    const uint32_t high = (~y & ((~z & term[4]) | (z & term[5]))) | (y & ((~z & term[6]) | (z & term[7])));
    Write<kFull>(c, d, l, (~x & low) | (x & high));
  }
  return i + 1;
}

template <typename T, bool kFull>
const Instruction* BfiLanes(Context& c, const Instruction* i) {
  T* d = Reg<T>(c, i->reg[0]);
  const T *a = Reg<T>(c, i->reg[1]), *b = Reg<T>(c, i->reg[2]);
  const uint32_t *pos = Reg<uint32_t>(c, i->reg[3]), *len = Reg<uint32_t>(c, i->reg[4]);
  WW_LANES Write<kFull>(c, d, l, Bfi::Run(a[l], b[l], pos[l], len[l]));
  return i + 1;
}

template <typename F>
HandlerPair Bitwise2(Type type) {
  switch (ByteSize(type)) {
    case 2: return Of2<uint16_t, uint16_t, uint16_t, F>();
    case 4: return Of2<uint32_t, uint32_t, uint32_t, F>();
    case 8: return Of2<uint64_t, uint64_t, uint64_t, F>();
    default: return {};
  }
}
template <typename F>
HandlerPair Bitwise1(Type type) {
  switch (ByteSize(type)) {
    case 2: return Of1<uint16_t, uint16_t, F>();
    case 4: return Of1<uint32_t, uint32_t, F>();
    case 8: return Of1<uint64_t, uint64_t, F>();
    default: return {};
  }
}
HandlerPair SelectShift(const Instruction& in) {
  const bool is_signed = IsSigned(in.type);
  const int size = ByteSize(in.type);
  if (in.op == Op::kShl)
    return size == 2   ? Of2<uint16_t, uint16_t, uint32_t, Shl>()
           : size == 4 ? Of2<uint32_t, uint32_t, uint32_t, Shl>()
                       : Of2<uint64_t, uint64_t, uint32_t, Shl>();
  if (is_signed)
    return size == 2   ? Of2<int16_t, int16_t, uint32_t, Shr>()
           : size == 4 ? Of2<int32_t, int32_t, uint32_t, Shr>()
                       : Of2<int64_t, int64_t, uint32_t, Shr>();
  return size == 2   ? Of2<uint16_t, uint16_t, uint32_t, Shr>()
         : size == 4 ? Of2<uint32_t, uint32_t, uint32_t, Shr>()
                     : Of2<uint64_t, uint64_t, uint32_t, Shr>();
}
template <typename F>
HandlerPair Word3() {
  return Of3<uint32_t, uint32_t, uint32_t, uint32_t, F>();
}

HandlerPair SelectPrmt(const Instruction& in) {
  switch (static_cast<PrmtMode>(in.mode)) {
    case PrmtMode::kGeneric: return Word3<Prmt>();
    case PrmtMode::kF4e: return Word3<PrmtSpecial<PrmtMode::kF4e>>();
    case PrmtMode::kB4e: return Word3<PrmtSpecial<PrmtMode::kB4e>>();
    case PrmtMode::kRc8: return Word3<PrmtSpecial<PrmtMode::kRc8>>();
    case PrmtMode::kEcl: return Word3<PrmtSpecial<PrmtMode::kEcl>>();
    case PrmtMode::kEcr: return Word3<PrmtSpecial<PrmtMode::kEcr>>();
    case PrmtMode::kRc16: return Word3<PrmtSpecial<PrmtMode::kRc16>>();
  }
  return {};
}
HandlerPair SelectDot(const Instruction& in) {
  if (in.op == Op::kDp4a) {
    switch (in.mode) {
      case 0: return Word3<Dp4a<0>>();
      case 1: return Word3<Dp4a<1>>();
      case 2: return Word3<Dp4a<2>>();
      default: return Word3<Dp4a<3>>();
    }
  }
  const bool high = in.mul == MulMode::kHi;
  switch (in.mode) {
    case 0: return high ? Word3<Dp2a<0, true>>() : Word3<Dp2a<0, false>>();
    case 1: return high ? Word3<Dp2a<1, true>>() : Word3<Dp2a<1, false>>();
    case 2: return high ? Word3<Dp2a<2, true>>() : Word3<Dp2a<2, false>>();
    default: return high ? Word3<Dp2a<3, true>>() : Word3<Dp2a<3, false>>();
  }
}
HandlerPair SelectBfind(const Instruction& in) {
  switch (in.type) {
    case Type::kU32:
      return in.wrap ? Of1<uint32_t, uint32_t, Bfind<uint32_t, true>>()
                     : Of1<uint32_t, uint32_t, Bfind<uint32_t, false>>();
    case Type::kS32:
      return in.wrap ? Of1<uint32_t, int32_t, Bfind<int32_t, true>>() : Of1<uint32_t, int32_t, Bfind<int32_t, false>>();
    case Type::kU64:
      return in.wrap ? Of1<uint32_t, uint64_t, Bfind<uint64_t, true>>()
                     : Of1<uint32_t, uint64_t, Bfind<uint64_t, false>>();
    case Type::kS64:
      return in.wrap ? Of1<uint32_t, int64_t, Bfind<int64_t, true>>() : Of1<uint32_t, int64_t, Bfind<int64_t, false>>();
    default: return {};
  }
}

}  // namespace

HandlerPair SelectBits(const Instruction& in) {
  const bool wide = ByteSize(in.type) == 8;
  switch (in.op) {
    case Op::kAnd: return Bitwise2<And>(in.type);
    case Op::kOr: return Bitwise2<Or>(in.type);
    case Op::kXor: return Bitwise2<Xor>(in.type);
    case Op::kNot: return Bitwise1<Not>(in.type);
    case Op::kCnot: return Bitwise1<Cnot>(in.type);
    case Op::kShl:
    case Op::kShr: return SelectShift(in);
    case Op::kPopc: return wide ? Of1<uint32_t, uint64_t, Popc<uint64_t>>() : Of1<uint32_t, uint32_t, Popc<uint32_t>>();
    case Op::kClz: return wide ? Of1<uint32_t, uint64_t, Clz<uint64_t>>() : Of1<uint32_t, uint32_t, Clz<uint32_t>>();
    case Op::kBfind: return SelectBfind(in);
    case Op::kBrev: return wide ? Of1<uint64_t, uint64_t, Brev>() : Of1<uint32_t, uint32_t, Brev>();
    case Op::kBfe:
      switch (in.type) {
        case Type::kU32: return Of3<uint32_t, uint32_t, uint32_t, uint32_t, Bfe>();
        case Type::kS32: return Of3<int32_t, int32_t, uint32_t, uint32_t, Bfe>();
        case Type::kU64: return Of3<uint64_t, uint64_t, uint32_t, uint32_t, Bfe>();
        default: return Of3<int64_t, int64_t, uint32_t, uint32_t, Bfe>();
      }
    case Op::kBfi:
      return wide ? HandlerPair{BfiLanes<uint64_t, false>, BfiLanes<uint64_t, true>}
                  : HandlerPair{BfiLanes<uint32_t, false>, BfiLanes<uint32_t, true>};
    case Op::kBmsk:
      return in.wrap ? Of2<uint32_t, uint32_t, uint32_t, Bmsk<true>>()
                     : Of2<uint32_t, uint32_t, uint32_t, Bmsk<false>>();
    case Op::kSzext:
      if (in.type == Type::kS32)
        return in.wrap ? Of2<int32_t, int32_t, uint32_t, Szext<true>>()
                       : Of2<int32_t, int32_t, uint32_t, Szext<false>>();
      return in.wrap ? Of2<uint32_t, uint32_t, uint32_t, Szext<true>>()
                     : Of2<uint32_t, uint32_t, uint32_t, Szext<false>>();
    case Op::kFns: return Of3<uint32_t, uint32_t, uint32_t, int32_t, Fns>();
    case Op::kShf:
      if (in.mode == 1) return in.wrap ? Word3<Shf<true, true>>() : Word3<Shf<true, false>>();
      return in.wrap ? Word3<Shf<false, true>>() : Word3<Shf<false, false>>();
    case Op::kPrmt: return SelectPrmt(in);
    case Op::kLop3: return {Lop3<false>, Lop3<true>};
    case Op::kDp4a:
    case Op::kDp2a: return SelectDot(in);
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
