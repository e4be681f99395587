// Moves, packing, selection, predicates, clocks.
#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {
namespace {

struct Copy {
  template <typename T>
  static T Run(T a) {
    return a;
  }
};

template <bool kFull>
const Instruction* MovePredicate(Context& c, const Instruction* i) {
  WritePredicate(c, i->reg[0], *Reg<uint32_t>(c, i->reg[1]) ^ (i->negate_predicate ? kAllLanes : 0));
  return i + 1;
}

template <typename T, bool kFull>
const Instruction* SelectLanes(Context& c, const Instruction* i) {
  T* d = Reg<T>(c, i->reg[0]);
  const T* a = Reg<T>(c, i->reg[1]);
  const T* b = Reg<T>(c, i->reg[2]);
  const uint32_t p = *Reg<uint32_t>(c, i->reg[3]);
  WW_LANES Write<kFull>(c, d, l, (p >> l) & 1 ? a[l] : b[l]);
  return i + 1;
}

template <typename T, bool kFloat, bool kFull>
const Instruction* Slct(Context& c, const Instruction* i) {
  T* d = Reg<T>(c, i->reg[0]);
  const T* a = Reg<T>(c, i->reg[1]);
  const T* b = Reg<T>(c, i->reg[2]);
  const auto* s = Reg<uint32_t>(c, i->reg[3]);
  const bool ftz = i->ftz;
  for (uint32_t l = 0; l < kLanes; ++l) {
    bool first;
    if constexpr (kFloat) {
      const float f = std::bit_cast<float>(s[l]);
      first = f >= 0 || (ftz && (s[l] & 0x7f800000) == 0);
    } else {
      first = static_cast<int32_t>(s[l]) >= 0;
    }
    Write<kFull>(c, d, l, first ? a[l] : b[l]);
  }
  return i + 1;
}

template <bool kFull>
const Instruction* Pack2To32(Context& c, const Instruction* i) {
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  const uint32_t* a = Reg<uint32_t>(c, i->reg[1]);
  const uint32_t* b = Reg<uint32_t>(c, i->reg[2]);
  WW_LANES Write<kFull>(c, d, l, (a[l] & 0xffff) | (b[l] << 16));
  return i + 1;
}
template <bool kFull>
const Instruction* Pack2To64(Context& c, const Instruction* i) {
  uint64_t* d = Reg<uint64_t>(c, i->reg[0]);
  const uint32_t* a = Reg<uint32_t>(c, i->reg[1]);
  const uint32_t* b = Reg<uint32_t>(c, i->reg[2]);
  WW_LANES Write<kFull>(c, d, l, a[l] | (static_cast<uint64_t>(b[l]) << 32));
  return i + 1;
}
template <bool kFull>
const Instruction* Pack4To64(Context& c, const Instruction* i) {
  uint64_t* d = Reg<uint64_t>(c, i->reg[0]);
  const uint32_t *p = Reg<uint32_t>(c, i->reg[1]), *q = Reg<uint32_t>(c, i->reg[2]), *r = Reg<uint32_t>(c, i->reg[3]),
                 *s = Reg<uint32_t>(c, i->reg[4]);
  WW_LANES Write<kFull>(c, d, l,
                        (p[l] & 0xffff) | (static_cast<uint64_t>(q[l] & 0xffff) << 16) |
                            (static_cast<uint64_t>(r[l] & 0xffff) << 32) |
                            (static_cast<uint64_t>(s[l] & 0xffff) << 48));
  return i + 1;
}

template <typename S, int kBits, bool kFull>
const Instruction* UnpackLanes(Context& c, const Instruction* i) {
  const S* a = Reg<S>(c, i->reg[i->defs]);
  for (int k = 0; k < i->vector; ++k) {
    uint32_t* d = Reg<uint32_t>(c, i->reg[k]);
    const int shift = k * kBits;
    const uint32_t keep = kBits == 16 ? 0xffff : UINT32_MAX;
    WW_LANES Write<kFull>(c, d, l, static_cast<uint32_t>(a[l] >> shift) & keep);
  }
  return i + 1;
}

const Instruction* PredicateLogic(Context& c, const Instruction* i) {
  const uint32_t a = *Reg<uint32_t>(c, i->reg[1]);
  uint32_t r = ~a;
  if (i->operands == 3) {
    const uint32_t b = *Reg<uint32_t>(c, i->reg[2]);
    const Op op = static_cast<Op>(i->mode);
    r = op == Op::kAnd ? a & b : op == Op::kOr ? a | b : a ^ b;
  }
  WritePredicate(c, i->reg[0], r);
  return i + 1;
}

// Clocks are deterministic: the number of thread instructions that this machine has run.
const Instruction* Clock(Context& c, const Instruction* i) {
  const uint64_t now = static_cast<uint64_t>(INT64_MAX - c.budget);
  const uint64_t value = i->mode == 1 ? now >> 32 : now;
  if (ByteSize(i->type) == 8) {
    uint64_t* d = Reg<uint64_t>(c, i->reg[0]);
    WW_LANES Write<false>(c, d, l, value);
  } else {
    uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
    WW_LANES Write<false>(c, d, l, static_cast<uint32_t>(value));
  }
  return i + 1;
}

template <bool kFull>
const Instruction* Cvta(Context& c, const Instruction* i) {
  uint64_t* d = Reg<uint64_t>(c, i->reg[0]);
  const uint64_t* a = Reg<uint64_t>(c, i->reg[1]);
  auto offset = static_cast<uint64_t>(i->immediate);
  if (i->immediate > 0) offset += c.memory->window_shift();
  if (i->immediate < 0) offset -= c.memory->window_shift();
  WW_LANES Write<kFull>(c, d, l, a[l] + offset);
  return i + 1;
}

const Instruction* IsSpaceOf(Context& c, const Instruction* i) {
  const uint64_t* a = Reg<uint64_t>(c, i->reg[1]);
  uint32_t mask = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const Space space = WindowOf(a[l] - c.memory->window_shift());
    mask |= static_cast<uint32_t>(space == i->space) << l;
  }
  WritePredicate(c, i->reg[0], mask);
  return i + 1;
}

}  // namespace

HandlerPair SelectMove(const Instruction& in) {
  const bool wide = ByteSize(in.type) == 8;
  switch (in.op) {
    case Op::kMove:
      if (in.type == Type::kPred) return {MovePredicate<false>, MovePredicate<true>};
      return wide ? Of1<uint64_t, uint64_t, Copy>() : Of1<uint32_t, uint32_t, Copy>();
    case Op::kCvta: return {Cvta<false>, Cvta<true>};
    case Op::kSelect:
      return wide ? HandlerPair{SelectLanes<uint64_t, false>, SelectLanes<uint64_t, true>}
                  : HandlerPair{SelectLanes<uint32_t, false>, SelectLanes<uint32_t, true>};
    case Op::kSlct:
      if (in.from == Type::kF32)
        return wide ? HandlerPair{Slct<uint64_t, true, false>, Slct<uint64_t, true, true>}
                    : HandlerPair{Slct<uint32_t, true, false>, Slct<uint32_t, true, true>};
      return wide ? HandlerPair{Slct<uint64_t, false, false>, Slct<uint64_t, false, true>}
                  : HandlerPair{Slct<uint32_t, false, false>, Slct<uint32_t, false, true>};
    case Op::kPack:
      if (!wide) return {Pack2To32<false>, Pack2To32<true>};
      return in.vector == 2 ? HandlerPair{Pack2To64<false>, Pack2To64<true>}
                            : HandlerPair{Pack4To64<false>, Pack4To64<true>};
    case Op::kUnpack:
      if (!wide) return {UnpackLanes<uint32_t, 16, false>, UnpackLanes<uint32_t, 16, true>};
      return in.vector == 2 ? HandlerPair{UnpackLanes<uint64_t, 32, false>, UnpackLanes<uint64_t, 32, true>}
                            : HandlerPair{UnpackLanes<uint64_t, 16, false>, UnpackLanes<uint64_t, 16, true>};
    case Op::kPredicateLogic: return {PredicateLogic, PredicateLogic};
    case Op::kClock: return {Clock, Clock};
    case Op::kIsSpace: return {IsSpaceOf, IsSpaceOf};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
