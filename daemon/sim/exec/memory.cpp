// Loads and stores. The lanes' addresses are compared with the pattern that the same instruction had last time; if it
// is the same, as it usually is, the bounds check is one comparison and counting is a few additions. If a pattern's
// lowest and highest byte are inside one allocation, every lane is; if not, each lane is looked up separately, so that
// there is no false report.
#include "sim/exec/async_copy.h"
#include "sim/exec/lanes.h"
#include "sim/exec/quiet_races.h"
#include "sim/exec/race.h"
#include "sim/exec/resolve.h"
#include "sim/exec/services.h"
#include "sim/exec/taint.h"
#include "sim/exec/visibility.h"
#include "sim/exec/written.h"

namespace warpwright::sim::v3 {
namespace {

using Kind = AddressPattern::Kind;

// Moves one element of every active lane.
template <typename M, typename S>
[[gnu::always_inline]] inline void MoveIn(Context& c, S* d, const std::byte* base, const Target& t,
                                          const AddressPattern& p, uint32_t stride) {
  auto read = [](const std::byte* from) {
    M v;
    std::memcpy(&v, from, sizeof(M));
    return static_cast<S>(v);
  };
  if (t.simple && p.kind == Kind::kUniform) {
    const S v = read(base);
    WW_LANES Write<false>(c, d, l, v);
  } else if (t.simple && p.kind == Kind::kContiguous && c.mask == kAllLanes) {
    for (uint32_t l = 0; l < kLanes; ++l) d[l] = read(base + static_cast<size_t>(l) * stride);
  } else if (c.mask == kAllLanes) {
    for (uint32_t l = 0; l < kLanes; ++l) d[l] = read(base + t.delta[l]);
  } else {
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const int l = std::countr_zero(m);
      d[l] = read(base + t.delta[l]);
    }
  }
}
template <typename M, typename S>
[[gnu::always_inline]] inline void MoveOut(Context& c, const S* s, std::byte* base, const Target& t,
                                           const AddressPattern& p, uint32_t stride) {
  auto write = [](std::byte* to, S value) {
    const M v = static_cast<M>(value);
    std::memcpy(to, &v, sizeof(M));
  };
  if (t.simple && p.kind == Kind::kContiguous && c.mask == kAllLanes) {
    for (uint32_t l = 0; l < kLanes; ++l) write(base + static_cast<size_t>(l) * stride, s[l]);
  } else {
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const int l = std::countr_zero(m);
      write(base + t.delta[l], s[l]);
    }
  }
}
template <typename M, typename S>
[[gnu::always_inline]] inline void MoveInVector(Context& c, const Instruction* i, const Target& t,
                                                const AddressPattern& p) {
  if (i->vector == 1) return MoveIn<M, S>(c, Reg<S>(c, i->reg[0]), t.base, t, p, sizeof(M));
  for (uint32_t k = 0; k < i->vector; ++k)
    MoveIn<M, S>(c, Reg<S>(c, i->reg[k]), t.base + k * sizeof(M), t, p, static_cast<uint32_t>(sizeof(M)) * i->vector);
}

// Local memory: word w of lane l is at 128 w + 4 l.
template <typename T>
[[gnu::always_inline]] inline T* LocalWord(T* local, uint64_t offset, uint32_t lane) {
  return local + (offset >> 2) * 128 + lane * 4 + (offset & 3);
}

// `unwritten`: by element, lanes whose value was never written.
bool ResolveLocal(Context& c, const Instruction* i, const uint64_t* a, const AddressPattern& p, uint32_t element,
                  uint32_t bytes, bool write, uint32_t* unwritten) {
  const uint64_t a0 = a[p.first];
  const uint64_t low = a0 + static_cast<uint64_t>(p.low), high = a0 + static_cast<uint64_t>(p.high);
  if (low > c.local_bytes || high > c.local_bytes || high < low) {
    StopOutOfBounds(c, i, a, bytes, Space::kLocal, write ? AccessKind::kWrite : AccessKind::kRead);
    return false;
  }
  if (c.checking) {
    uint8_t* w = c.warp->local_written;
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      for (uint64_t k = 0; k < bytes;) {
        const uint32_t n = element < 4 ? element : 4;
        uint8_t* at = LocalWord(w, a[l] + k, l);
        if (write) {
          std::memset(at, 0xff, n);
        } else {
          uint32_t v = 0;
          std::memcpy(&v, at, n);
          const uint32_t all = n == 4 ? UINT32_MAX : (1u << (8 * n)) - 1;
          if (element == 8 ? v == 0 : v != all) unwritten[k / element] |= 1u << l;
        }
        k += n;
      }
    }
  }
  if (c.counting && i->count_as != core::InstructionClass::kMove) {
    c.site_counters[i->site].local_bytes += static_cast<uint64_t>(std::popcount(c.mask)) * bytes;
    if (c.observer) NotifyLocal(c, i, a, bytes, write);
  }
  return true;
}

template <typename M, typename S>
const Instruction* LoadLocal(Context& c, const Instruction* i, const uint64_t* a, AddressPattern& p) {
  uint32_t unwritten[4] = {};
  if (!ResolveLocal(c, i, a, p, sizeof(M), static_cast<uint32_t>(sizeof(M)) * i->vector, false, unwritten))
    return nullptr;
  for (uint32_t k = 0; k < i->vector; ++k) {
    S* d = Reg<S>(c, i->reg[k]);
    if (sizeof(M) == 4 && sizeof(S) == 4 && p.kind == Kind::kUniform) {
      const auto* row = reinterpret_cast<const S*>(c.warp->local + ((a[p.first] + 4 * k) >> 2) * 128);
      WW_LANES Write<false>(c, d, l, row[l]);
      continue;
    }
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      const uint64_t offset = a[l] + k * sizeof(M);
      if constexpr (sizeof(M) == 8) {
        uint32_t low, high;
        std::memcpy(&low, LocalWord(c.warp->local, offset, l), 4);
        std::memcpy(&high, LocalWord(c.warp->local, offset + 4, l), 4);
        d[l] = static_cast<S>(low | static_cast<uint64_t>(high) << 32);
      } else {
        M v;
        std::memcpy(&v, LocalWord(c.warp->local, offset, l), sizeof(M));
        d[l] = static_cast<S>(v);  // NOLINT(bugprone-signed-char-misuse): loads of signed types extend the sign
      }
    }
  }
  if ((unwritten[0] | unwritten[1] | unwritten[2] | unwritten[3]) == 0) [[likely]]
    return i + 1;
  return TaintResult(c, i, a, unwritten, Space::kLocal) ? LeaveTainted(c, i) : i + 1;
}
template <typename M, typename S>
const Instruction* StoreLocal(Context& c, const Instruction* i, const uint64_t* a, AddressPattern& p) {
  if (!ResolveLocal(c, i, a, p, sizeof(M), static_cast<uint32_t>(sizeof(M)) * i->vector, true, nullptr)) return nullptr;
  for (uint32_t k = 0; k < i->vector; ++k) {
    const S* s = Reg<S>(c, i->reg[1 + k]);
    for (uint32_t m = c.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      const uint64_t offset = a[l] + k * sizeof(M);
      if constexpr (sizeof(M) == 8) {
        const auto low = static_cast<uint32_t>(s[l]), high = static_cast<uint32_t>(static_cast<uint64_t>(s[l]) >> 32);
        std::memcpy(LocalWord(c.warp->local, offset, l), &low, 4);
        std::memcpy(LocalWord(c.warp->local, offset + 4, l), &high, 4);
      } else {
        const M v = static_cast<M>(s[l]);
        std::memcpy(LocalWord(c.warp->local, offset, l), &v, sizeof(M));
      }
    }
  }
  return i + 1;
}

template <typename M, typename S>
[[gnu::always_inline]] inline const Instruction* LoadFrom(Context& c, const Instruction* i, const uint64_t* a,
                                                          Space space) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(M)) * i->vector;
  AddressPattern& p = Match(c, i, a, bytes);
  const uint64_t a0 = a[p.first];
  if (((a0 | p.alignment) & (bytes - 1)) != 0) [[unlikely]]
    return StopMisaligned(c, i, a, bytes, space, AccessKind::kRead);
  switch (space) {
    case Space::kShared: {
      if (!ResolveShared(c, i, a, p, bytes, AccessKind::kRead)) return nullptr;
      if (c.checking) {
        const uint32_t lane = FindUnwritten(c.shared_written + a0, p.delta, p, c.mask, sizeof(M), bytes);
        if (!ReadsAreQuiet(c, p, a0, bytes) && !RecordReads(c, i, p, a0, bytes)) return nullptr;
        if (lane != kLanes) [[unlikely]] {
          uint32_t unwritten[4];
          UnwrittenElements(c.shared_written + a0, p.delta, c.mask, sizeof(M), i->vector, unwritten);
          if (c.copies && !CheckCopiesArrived(c, i, a, c.mask, bytes)) return nullptr;
          MoveInVector<M, S>(c, i, Target{c.shared + a0, p.delta, true}, p);
          return TaintResult(c, i, a, unwritten, Space::kShared) ? LeaveTainted(c, i) : i + 1;
        }
      }
      MoveInVector<M, S>(c, i, Target{c.shared + a0, p.delta, true}, p);
      return i + 1;
    }
    case Space::kLocal: return LoadLocal<M, S>(c, i, a, p);
    case Space::kParam: {
      if (a0 + static_cast<uint64_t>(p.low) > c.parameter_bytes ||
          a0 + static_cast<uint64_t>(p.high) > c.parameter_bytes)
        return StopOutOfBounds(c, i, a, bytes, Space::kParam, AccessKind::kRead);
      MoveInVector<M, S>(c, i, Target{const_cast<std::byte*>(c.parameters) + a0, p.delta, true}, p);
      return i + 1;
    }
    default: {
      alignas(64) int64_t scratch[kLanes];
      const Target t = ResolveGlobal<false>(c, i, a, p, sizeof(M), bytes, scratch);
      if (!t.base) return nullptr;
      if (c.visibility) [[unlikely]] {
        ValuesInPlace values;
        if (!CheckVisible(c, i, a, bytes, &values)) return nullptr;
        if (c.counting && space != Space::kConst) CountGlobal<false>(c, i, p, a0, bytes);
        MoveInVector<M, S>(c, i, t, p);
        return i + 1;
      }
      if (c.counting && space != Space::kConst) CountGlobal<false>(c, i, p, a0, bytes);
      MoveInVector<M, S>(c, i, t, p);
      return i + 1;
    }
  }
}

template <typename M, typename S>
[[gnu::always_inline]] inline const Instruction* StoreTo(Context& c, const Instruction* i, const uint64_t* a,
                                                         Space space) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(M)) * i->vector;
  AddressPattern& p = Match(c, i, a, bytes);
  const uint64_t a0 = a[p.first];
  if (((a0 | p.alignment) & (bytes - 1)) != 0) [[unlikely]]
    return StopMisaligned(c, i, a, bytes, space, AccessKind::kWrite);
  alignas(64) int64_t scratch[kLanes];
  Target t;
  switch (space) {
    case Space::kShared: {
      if (!ResolveShared(c, i, a, p, bytes, AccessKind::kWrite)) return nullptr;
      if (c.checking) {
        MarkWritten(c.shared_written + a0, p.delta, p, c.mask, bytes);
        if (!WritesAreQuiet(c, p, a0, bytes)) {
          // The new bytes of every lane, to distinguish a conflict from rewriting the value that is already there.
          alignas(64) M values[kLanes][16 / sizeof(M)];
          const std::byte* rows[kLanes];
          for (uint32_t l = 0; l < kLanes; ++l) {
            for (uint32_t k = 0; k < i->vector; ++k) values[l][k] = static_cast<M>(Reg<S>(c, i->reg[1 + k])[l]);
            rows[l] = reinterpret_cast<const std::byte*>(values[l]);
          }
          if (!RecordWrites(c, i, p, a0, bytes, rows)) return nullptr;
        }
      }
      t = Target{c.shared + a0, p.delta, true};
      break;
    }
    case Space::kLocal: return StoreLocal<M, S>(c, i, a, p);
    case Space::kParam:
    case Space::kConst: return StopReadOnly(c, i, a0, p.first);
    default:
      t = ResolveGlobal<true>(c, i, a, p, sizeof(M), bytes, scratch);
      if (!t.base) return nullptr;
      if (c.visibility && !CheckWrites(c, i, a, bytes)) [[unlikely]]
        return nullptr;
      if (c.counting) CountGlobal<true>(c, i, p, a0, bytes);
  }
  for (uint32_t k = 0; k < i->vector; ++k)
    MoveOut<M, S>(c, Reg<S>(c, i->reg[1 + k]), t.base + k * sizeof(M), t, p, bytes);
  return i + 1;
}

// Generic addresses: each window separately.
template <typename F>
[[gnu::always_inline]] inline const Instruction* ByWindow(Context& c, const Instruction* i, uint64_t* a, F access) {
  const uint64_t shift = c.memory->window_shift();
  const auto space_of = [shift](uint64_t address) { return WindowOf(address - shift); };
  const uint32_t before = c.mask;
  uint32_t left = before;
  const Instruction* next = i + 1;
  bool tainted = false;
  while (left != 0 && next) {
    const Space space = space_of(a[std::countr_zero(left)]);
    const uint64_t window = space == Space::kGlobal ? 0 : shift + WindowBase(space);
    uint32_t here = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      if ((left >> l & 1) && space_of(a[l]) == space) {
        here |= 1u << l;
        a[l] -= window;
      }
    left &= ~here;
    if (here != before) SetMask(c, here);
    next = access(space);
    if (!next && c.stop == Context::Stop::kTaint) {
      tainted = true;
      next = i + 1;
    }
  }
  if (c.mask != before) SetMask(c, before);
  return tainted && next ? LeaveTainted(c, i) : next;
}

template <typename M, typename S>
const Instruction* Load(Context& c, const Instruction* i) {
  alignas(64) uint64_t a[kLanes];
  LoadAddresses(c, i, i->defs, a);
  if (i->is_volatile) [[unlikely]]
    NoteContention(c, i);
  if (i->space == Space::kGeneric)
    return ByWindow(c, i, a, [&](Space space) { return LoadFrom<M, S>(c, i, a, space); });
  return LoadFrom<M, S>(c, i, a, i->space);
}
template <typename M, typename S>
const Instruction* Store(Context& c, const Instruction* i) {
  alignas(64) uint64_t a[kLanes];
  LoadAddresses(c, i, 0, a);
  if (i->space == Space::kGeneric) return ByWindow(c, i, a, [&](Space space) { return StoreTo<M, S>(c, i, a, space); });
  return StoreTo<M, S>(c, i, a, i->space);
}

template <typename S>
Handler LoadHandler(Type type) {
  const bool sign = IsSigned(type);
  switch (ByteSize(type)) {
    case 1: return sign ? Load<int8_t, S> : Load<uint8_t, S>;
    case 2: return sign ? Load<int16_t, S> : Load<uint16_t, S>;
    case 4: return sign ? Load<int32_t, S> : Load<uint32_t, S>;
    default: return nullptr;
  }
}
template <typename S>
Handler StoreHandler(Type type) {
  switch (ByteSize(type)) {
    case 1: return Store<uint8_t, S>;
    case 2: return Store<uint16_t, S>;
    case 4: return Store<uint32_t, S>;
    default: return nullptr;
  }
}

}  // namespace

HandlerPair SelectMemory(const Instruction& in) {
  Handler handler = nullptr;
  const bool eight = ByteSize(in.type) == 8;
  if (in.op == Op::kLoad)
    handler = eight            ? Load<uint64_t, uint64_t>
              : in.wide_result ? LoadHandler<uint64_t>(in.type)
                               : LoadHandler<uint32_t>(in.type);
  else if (in.op == Op::kStore)
    handler = eight               ? Store<uint64_t, uint64_t>
              : in.wide_source[0] ? StoreHandler<uint64_t>(in.type)
                                  : StoreHandler<uint32_t>(in.type);
  return {handler, handler};
}

}  // namespace warpwright::sim::v3
