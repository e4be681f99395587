// setp and set: a comparison of 32 lanes gives the bits of a predicate.
#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {
namespace {

template <Compare kCompare, typename T>
[[gnu::always_inline]] inline bool Holds(T a, T b) {
  switch (kCompare) {
    case Compare::kEq: return a == b;
    case Compare::kNe: return !(a == b) && a == a && b == b;  // NOLINT(misc-redundant-expression): a NaN is not itself
    case Compare::kLt: return a < b;
    case Compare::kLe: return a <= b;
    case Compare::kGt: return a > b;
    case Compare::kGe: return a >= b;
    case Compare::kEqu: return !(a < b || a > b);
    case Compare::kNeu: return !(a == b);
    case Compare::kLtu: return !(a >= b);
    case Compare::kLeu: return !(a > b);
    case Compare::kGtu: return !(a <= b);
    case Compare::kGeu: return !(a < b);
    case Compare::kNum: return a == a && b == b;     // NOLINT(misc-redundant-expression): as above
    case Compare::kNan: return !(a == a && b == b);  // NOLINT(misc-redundant-expression): as above
    default: return false;
  }
}

template <Compare kCompare, typename T>
[[gnu::always_inline]] inline uint32_t CompareLanes(const T* a, const T* b) {
  alignas(64) int32_t bits[kLanes];
  WW_LANES bits[l] = Holds<kCompare>(a[l], b[l]) ? -1 : 0;
  return MaskOf(bits);
}

// The result of the comparison and, with a boolean operator, the third operand; as lane masks of the packed halves.
struct Outcome {
  uint32_t low = 0, high = 0;
};

[[gnu::always_inline]] inline uint32_t Combine(Context& c, const Instruction* i, uint32_t result) {
  if (i->bool_op == BoolOp::kNone) return result;
  const uint32_t p = *Reg<uint32_t>(c, i->reg[i->operands - 1]) ^ (i->negate_predicate ? kAllLanes : 0);
  return i->bool_op == BoolOp::kAnd ? result & p : i->bool_op == BoolOp::kOr ? result | p : result ^ p;
}

// Writes predicates, or numbers for `set`.
[[gnu::always_inline]] inline const Instruction* Finish(Context& c, const Instruction* i, uint32_t result) {
  if (i->op == Op::kSetPredicate) {
    // The third operand may be one of the results.
    const uint32_t first = Combine(c, i, result), second = Combine(c, i, ~result);
    WritePredicate(c, i->reg[0], first);
    if (i->defs == 2) WritePredicate(c, i->reg[1], second);
    return i + 1;
  }
  const uint32_t final_result = Combine(c, i, result);
  uint32_t yes = UINT32_MAX;
  if (i->from == Type::kF32) yes = std::bit_cast<uint32_t>(1.0f);
  else if (i->from == Type::kF16) yes = 0x3c00;
  else if (i->from == Type::kBf16) yes = 0x3f80;
  else if (i->from == Type::kU16 || i->from == Type::kS16) yes = 0xffff;
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, d, l, (final_result >> l) & 1 ? yes : 0);
  return i + 1;
}

template <Compare kCompare, typename T>
const Instruction* Wide(Context& c, const Instruction* i) {
  return Finish(c, i, CompareLanes<kCompare>(Reg<T>(c, i->reg[i->defs]), Reg<T>(c, i->reg[i->defs + 1])));
}

template <Compare kCompare, typename T>
const Instruction* Short(Context& c, const Instruction* i) {  // 16-bit integers
  const uint32_t *a = Reg<uint32_t>(c, i->reg[i->defs]), *b = Reg<uint32_t>(c, i->reg[i->defs + 1]);
  alignas(64) int32_t bits[kLanes];
  WW_LANES bits[l] = Holds<kCompare>(static_cast<T>(a[l]), static_cast<T>(b[l])) ? -1 : 0;
  return Finish(c, i, MaskOf(bits));
}

template <Compare kCompare>
const Instruction* FlushedFloat(Context& c, const Instruction* i) {
  const float *a = Reg<float>(c, i->reg[i->defs]), *b = Reg<float>(c, i->reg[i->defs + 1]);
  alignas(64) int32_t bits[kLanes];
  WW_LANES bits[l] = Holds<kCompare>(Flush(a[l]), Flush(b[l])) ? -1 : 0;
  return Finish(c, i, MaskOf(bits));
}

template <typename Format>
[[gnu::always_inline]] inline void LoadCompared(const Instruction* i, const uint32_t* lanes, int shift, float* out) {
  alignas(64) uint32_t bits[kLanes];
  WW_LANES {
    const uint32_t b = (lanes[l] >> shift) & 0xffff;
    bits[l] = i->ftz && (b & Format::kExponent) == 0 ? b & 0x8000 : b;
  }
  Format::Load(bits, 0, out);
}

template <Compare kCompare, typename Format>
const Instruction* Half(Context& c, const Instruction* i) {
  const bool pair = i->type == Type::kF16x2 || i->type == Type::kBf16x2;
  const uint32_t *a = Reg<uint32_t>(c, i->reg[i->defs]), *b = Reg<uint32_t>(c, i->reg[i->defs + 1]);
  alignas(64) float x[kLanes], y[kLanes];
  LoadCompared<Format>(i, a, 0, x);
  LoadCompared<Format>(i, b, 0, y);
  const uint32_t low = CompareLanes<kCompare>(x, y);
  if (!pair) return Finish(c, i, low);
  LoadCompared<Format>(i, a, 16, x);
  LoadCompared<Format>(i, b, 16, y);
  const uint32_t high = CompareLanes<kCompare>(x, y);
  if (i->op == Op::kSetPredicate) {  // one result for each half
    const uint32_t first = Combine(c, i, low), second = Combine(c, i, high);
    WritePredicate(c, i->reg[0], first);
    WritePredicate(c, i->reg[1], second);
    return i + 1;
  }
  const uint32_t p = Combine(c, i, low), q = Combine(c, i, high);
  const bool numbers = i->from == Type::kF16x2 || i->from == Type::kBf16x2;
  const uint32_t yes = !numbers ? 0xffff : Format::kExponent == 0x7c00 ? 0x3c00 : 0x3f80;
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, d, l, ((p >> l) & 1 ? yes : 0) | ((q >> l) & 1 ? yes << 16 : 0));
  return i + 1;
}

template <Compare kCompare>
HandlerPair SelectType(const Instruction& in) {
  auto one = [](Handler h) { return HandlerPair{h, h}; };
  switch (in.type) {
    case Type::kF32: return in.ftz ? one(FlushedFloat<kCompare>) : one(Wide<kCompare, float>);
    case Type::kF64: return one(Wide<kCompare, double>);
    case Type::kF16:
    case Type::kF16x2: return one(Half<kCompare, HalfFormat>);
    case Type::kBf16:
    case Type::kBf16x2: return one(Half<kCompare, Bf16Format>);
    default: break;
  }
  if constexpr (kCompare <= Compare::kGe) {
    switch (in.type) {
      case Type::kU16:
      case Type::kB16: return one(Short<kCompare, uint16_t>);
      case Type::kS16: return one(Short<kCompare, int16_t>);
      case Type::kU32:
      case Type::kB32: return one(Wide<kCompare, uint32_t>);
      case Type::kS32: return one(Wide<kCompare, int32_t>);
      case Type::kU64:
      case Type::kB64: return one(Wide<kCompare, uint64_t>);
      case Type::kS64: return one(Wide<kCompare, int64_t>);
      default: break;
    }
  }
  return {};
}

// lo, ls, hi, hs are the unsigned comparisons, regardless of the type.
HandlerPair SelectUnsigned(const Instruction& in, Compare compare) {
  Instruction as_unsigned = in;
  as_unsigned.compare = compare;
  as_unsigned.type = ByteSize(in.type) == 8 ? Type::kU64 : ByteSize(in.type) == 4 ? Type::kU32 : Type::kU16;
  return SelectCompare(as_unsigned);
}

}  // namespace

HandlerPair SelectCompare(const Instruction& in) {
  if (in.op != Op::kSetPredicate && in.op != Op::kSet) return {};
  switch (in.compare) {
    case Compare::kEq: return SelectType<Compare::kEq>(in);
    case Compare::kNe: return SelectType<Compare::kNe>(in);
    case Compare::kLt: return SelectType<Compare::kLt>(in);
    case Compare::kLe: return SelectType<Compare::kLe>(in);
    case Compare::kGt: return SelectType<Compare::kGt>(in);
    case Compare::kGe: return SelectType<Compare::kGe>(in);
    case Compare::kLo: return SelectUnsigned(in, Compare::kLt);
    case Compare::kLs: return SelectUnsigned(in, Compare::kLe);
    case Compare::kHi: return SelectUnsigned(in, Compare::kGt);
    case Compare::kHs: return SelectUnsigned(in, Compare::kGe);
    case Compare::kEqu: return SelectType<Compare::kEqu>(in);
    case Compare::kNeu: return SelectType<Compare::kNeu>(in);
    case Compare::kLtu: return SelectType<Compare::kLtu>(in);
    case Compare::kLeu: return SelectType<Compare::kLeu>(in);
    case Compare::kGtu: return SelectType<Compare::kGtu>(in);
    case Compare::kGeu: return SelectType<Compare::kGeu>(in);
    case Compare::kNum: return SelectType<Compare::kNum>(in);
    case Compare::kNan: return SelectType<Compare::kNan>(in);
  }
  return {};
}

}  // namespace warpwright::sim::v3
