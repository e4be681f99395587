// Atomic operations, lane by lane in ascending order, one of the orders that the hardware may choose.
#include "sim/exec/float_lanes.h"
#include "sim/exec/race.h"
#include "sim/exec/services.h"
#include "sim/exec/taint.h"
#include "sim/exec/visibility.h"

namespace warpwright::sim::v3 {
namespace {

template <typename Format>
uint32_t AddHalf(uint32_t a, uint32_t b) {
  return Format::FromFloat(OddFloat(OddSum(Format::ToFloat(a & 0xffff), Format::ToFloat(b & 0xffff))));
}

float AddFloat(float a, float b, bool flush) {
  const float r = Canonical((flush ? Flush(a) : a) + (flush ? Flush(b) : b));
  return flush ? Flush(r) : r;
}

// What memory holds afterwards. `global`: f32 additions in global memory flush subnormals, those in shared memory do
// not.
uint64_t Updated(const Instruction* i, uint64_t old, uint64_t b, uint64_t c, bool global) {
  const auto op = static_cast<AtomicOp>(i->mode);
  switch (op) {
    case AtomicOp::kAnd: return old & b;
    case AtomicOp::kOr: return old | b;
    case AtomicOp::kXor: return old ^ b;
    case AtomicOp::kExch: return b;
    case AtomicOp::kCas: return old == b ? c : old;
    case AtomicOp::kInc: return static_cast<uint32_t>(old) >= static_cast<uint32_t>(b) ? 0 : old + 1;
    case AtomicOp::kDec: return old == 0 || static_cast<uint32_t>(old) > static_cast<uint32_t>(b) ? b : old - 1;
    case AtomicOp::kMin:
    case AtomicOp::kMax: {
      bool less = old < b;
      if (i->type == Type::kS32) less = static_cast<int32_t>(old) < static_cast<int32_t>(b);
      if (i->type == Type::kS64) less = static_cast<int64_t>(old) < static_cast<int64_t>(b);
      return (op == AtomicOp::kMin) == less ? old : b;
    }
    case AtomicOp::kAdd: break;
  }
  switch (i->type) {
    case Type::kF32:
      return std::bit_cast<uint32_t>(AddFloat(std::bit_cast<float>(static_cast<uint32_t>(old)),
                                              std::bit_cast<float>(static_cast<uint32_t>(b)), global));
    case Type::kF64: return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
    case Type::kF16: return AddHalf<HalfFormat>(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
    case Type::kBf16: return AddHalf<Bf16Format>(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
    case Type::kF16x2:
      return AddHalf<HalfFormat>(static_cast<uint32_t>(old), static_cast<uint32_t>(b)) |
             (AddHalf<HalfFormat>(static_cast<uint32_t>(old >> 16), static_cast<uint32_t>(b >> 16)) << 16);
    case Type::kBf16x2:
      return AddHalf<Bf16Format>(static_cast<uint32_t>(old), static_cast<uint32_t>(b)) |
             (AddHalf<Bf16Format>(static_cast<uint32_t>(old >> 16), static_cast<uint32_t>(b >> 16)) << 16);
    default: return old + b;
  }
}

template <typename M>
const Instruction* AtomicIn(Context& c, const Instruction* i, const uint64_t* a, Space space) {
  using S = Storage<M>;
  constexpr uint32_t kBytes = sizeof(M);
  AddressPattern& p = c.sites[i->site];
  FillPattern(p, a, c.mask, kBytes);
  const uint64_t a0 = a[p.first];
  if (((a0 | p.alignment) & (kBytes - 1)) != 0) return StopMisaligned(c, i, a, kBytes, space, AccessKind::kAtomic);
  alignas(64) int64_t scratch[kLanes];
  std::byte* base = nullptr;
  const int64_t* delta = p.delta;
  SiteCounters& n = c.site_counters[i->site];
  if (space == Space::kShared) {
    const uint64_t low = a0 + static_cast<uint64_t>(p.low), high = a0 + static_cast<uint64_t>(p.high);
    if (low > c.shared_bytes || high > c.shared_bytes || high < low)
      return StopOutOfBounds(c, i, a, kBytes, Space::kShared, AccessKind::kAtomic);
    if (c.checking) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (!(c.mask >> l & 1)) continue;
        uint8_t* w = c.shared_written + a[l];
        for (uint32_t k = 0; k < kBytes; ++k)
          if (w[k] == 0) {
            if (static_cast<AtomicOp>(i->mode) == AtomicOp::kExch) break;
            UseUnwrittenShared(c, i, a[l], l);
            break;
          }
        std::memset(w, 0xff, kBytes);
      }
      if (!RecordAtomics(c, i, a, kBytes)) return nullptr;
    }
    if (c.counting) {
      CountWavefronts(p, a0, kBytes, true);
      n.shared_requests += 1;
      n.wavefronts += p.wavefronts;
      n.conflicts += p.conflicts;
    }
    base = c.shared + a0;
  } else if (space == Space::kGlobal) {
    base = ResolveLanes(c, i, a, kBytes, AccessKind::kAtomic, scratch);
    if (!base) return nullptr;
    if (c.visibility && !CheckWrites(c, i, a, kBytes)) [[unlikely]]
      return nullptr;
    delta = scratch;
    if (c.counting) {
      const AddressPattern::Lines& touched = LinesOf(p, a0);
      n.requests += 1;
      n.sectors += touched.sector_count;
      n.bytes += static_cast<uint64_t>(std::popcount(c.mask)) * kBytes;
      if (c.observer) {
        // ptxas combines the lanes of an integer operation on one address into one; floats take turns.
        const bool combined = p.kind == AddressPattern::Kind::kUniform && !IsFloat(i->type);
        NotifyObserver(c, i, touched, a0, MemoryRequest::Kind::kAtomic, combined ? 0 : CountCollisions(p));
      }
    }
  } else {
    return StopOutOfBounds(c, i, a, kBytes, space, AccessKind::kAtomic);
  }
  const bool ordering = c.ordering && space == Space::kShared;
  const bool returns = i->defs == 1;
  const S* b = Reg<S>(c, i->reg[i->defs + 1]);
  const S* e = i->operands > i->defs + 2 ? Reg<S>(c, i->reg[i->defs + 2]) : b;
  S* d = returns ? Reg<S>(c, i->reg[0]) : nullptr;
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    std::byte* at = base + delta[l];
    M old;
    std::memcpy(&old, at, kBytes);
    const M next = static_cast<M>(Updated(i, old, static_cast<M>(b[l]), static_cast<M>(e[l]), space == Space::kGlobal));
    std::memcpy(at, &next, kBytes);
    if (ordering) [[unlikely]]
      OrderAtomic(c, l, a[l], kBytes, static_cast<AtomicOp>(i->mode) != AtomicOp::kCas || old == static_cast<M>(b[l]));
    if (returns) d[l] = static_cast<S>(old);
  }
  return i + 1;
}

template <typename M>
const Instruction* Atomic(Context& c, const Instruction* i) {
  alignas(64) uint64_t a[kLanes];
  c.contended = true;
  c.slice -= 256;  // loops around atomics may wait for other warps: these get to run sooner
  const auto offset = static_cast<uint64_t>(i->immediate);
  if (i->address64) {
    const uint64_t* r = Reg<uint64_t>(c, i->reg[i->defs]);
    WW_LANES a[l] = r[l] + offset;
  } else {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[i->defs]);
    WW_LANES a[l] = static_cast<uint32_t>(r[l] + static_cast<uint32_t>(offset));
  }
  if (i->space != Space::kGeneric) return AtomicIn<M>(c, i, a, i->space);
  const uint32_t before = c.mask;
  uint32_t shared = 0, local = 0;
  const uint64_t shift = c.memory->window_shift();
  for (uint32_t l = 0; l < kLanes; ++l) {
    const Space space = WindowOf(a[l] - shift);
    shared |= static_cast<uint32_t>(space == Space::kShared) << l;
    local |= static_cast<uint32_t>(space == Space::kLocal || space == Space::kParam) << l;
    if (space == Space::kShared) a[l] -= shift + kSharedWindow;
  }
  if ((before & local) != 0) return AtomicIn<M>(c, i, a, Space::kLocal);
  const Instruction* next = i + 1;
  for (const bool in_shared : {true, false}) {
    const uint32_t here = before & (in_shared ? shared : ~shared);
    if (here == 0 || !next) continue;
    if (here != before) SetMask(c, here);
    next = AtomicIn<M>(c, i, a, in_shared ? Space::kShared : Space::kGlobal);
  }
  if (c.mask != before) SetMask(c, before);
  return next;
}

}  // namespace

HandlerPair SelectAtomic(const Instruction& in) {
  if (in.op != Op::kAtomic && in.op != Op::kReduction) return {};
  switch (ByteSize(in.type)) {
    case 2: return {Atomic<uint16_t>, Atomic<uint16_t>};
    case 4: return {Atomic<uint32_t>, Atomic<uint32_t>};
    case 8: return {Atomic<uint64_t>, Atomic<uint64_t>};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
