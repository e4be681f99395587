// What every access does before it moves data: the lanes' addresses, their pattern, bounds, and what is counted.
#pragma once

#include "sim/exec/lanes.h"
#include "sim/exec/services.h"
#include "sim/exec/written.h"

namespace warpwright::sim::v3 {

[[gnu::always_inline]] inline void LoadAddresses(Context& c, const Instruction* i, int operand, uint64_t* a) {
  const auto offset = static_cast<uint64_t>(i->immediate);
  if (i->address64) {
    const uint64_t* r = Reg<uint64_t>(c, i->reg[operand]);
    WW_LANES a[l] = r[l] + offset;
  } else {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[operand]);
    WW_LANES a[l] = static_cast<uint32_t>(r[l] + static_cast<uint32_t>(offset));
  }
}

// Loops around volatile reads may wait for other warps: these get to run sooner.
inline void NoteContention(Context& c, const Instruction* i) {
  c.contended = true;
  c.slice -= 256;
  if (c.order && i->space != Space::kGlobal) StartOrdering(c);
}

[[gnu::always_inline]] inline AddressPattern& MatchSite(Context& c, AddressPattern& p, const uint64_t* a,
                                                        uint32_t bytes) {
  if (p.mask == c.mask) {
    const uint64_t a0 = a[p.first];
    uint64_t different = 0;
    WW_LANES different |=
        ((a[l] - a0) ^ static_cast<uint64_t>(p.delta[l])) & static_cast<uint64_t>(static_cast<int64_t>(c.lanes[l]));
    if (different == 0) return p;
  }
  FillPattern(p, a, c.mask, bytes);
  return p;
}
[[gnu::always_inline]] inline AddressPattern& Match(Context& c, const Instruction* i, const uint64_t* a,
                                                    uint32_t bytes) {
  return MatchSite(c, c.sites[i->site], a, bytes);
}

// Where the lanes' bytes are on the host.
struct Target {
  std::byte* base = nullptr;  // of the first active lane; nullptr: a fault was reported
  const int64_t* delta = nullptr;
  bool simple = true;  // the pattern's kind is valid for host addresses too
};

template <bool kWrite>
[[gnu::always_inline]] inline Target ResolveGlobal(Context& c, const Instruction* i, const uint64_t* a,
                                                   AddressPattern& p, uint32_t element, uint32_t bytes,
                                                   int64_t* scratch) {
  const uint64_t a0 = a[p.first];
  constexpr AccessKind kAccess = kWrite ? AccessKind::kWrite : AccessKind::kRead;
  const uint64_t low = a0 + static_cast<uint64_t>(p.low), high = a0 + static_cast<uint64_t>(p.high);
  const Allocation* m = p.allocation;
  if (!m || low < m->base || high > m->base + m->bytes || high < low) [[unlikely]] {
    m = c.memory->Find(a0);
    if (!m || low < m->base || high > m->base + m->bytes || high < low) {
      p.allocation = nullptr;
      return {ResolveLanes(c, i, a, bytes, kAccess, scratch), scratch, false};
    }
    p.allocation = m;
  }
  if (kWrite && m->read_only) [[unlikely]] {
    StopReadOnly(c, i, a0, p.first);
    return {};
  }
  const uint64_t offset = a0 - m->base;
  if (m->written) {
    if (kWrite) {
      MarkWritten(m->written + offset, p.delta, p, c.mask, bytes);
    } else if (c.checking) {
      uint32_t lane = FindUnwritten(m->written + offset, p.delta, p, c.mask, element, bytes);
      if (lane != kLanes && (m->found || !m->content.empty())) [[unlikely]]
        lane = FirstWithoutValue(*m, offset, p.delta, c.mask, element, bytes);
      if (lane != kLanes) [[unlikely]] {
        StopUninitialized(c, i, a[lane], lane, Space::kGlobal);
        return {};
      }
    }
  }
  return {m->data + offset, p.delta, true};
}

template <bool kWrite>
[[gnu::always_inline]] inline void CountGlobal(Context& c, const Instruction* i, AddressPattern& p, uint64_t a0,
                                               uint32_t bytes) {
  const AddressPattern::Lines& touched = LinesOf(p, a0);
  SiteCounters& n = c.site_counters[i->site];
  n.requests += 1;
  n.sectors += touched.sector_count;
  n.bytes += static_cast<uint64_t>(std::popcount(c.mask)) * bytes;
  if (c.observer) NotifyObserver(c, i, touched, a0, kWrite ? MemoryRequest::Kind::kWrite : MemoryRequest::Kind::kRead);
}

[[gnu::always_inline]] inline bool ResolveShared(Context& c, const Instruction* i, const uint64_t* a, AddressPattern& p,
                                                 uint32_t bytes, AccessKind kind) {
  const uint64_t a0 = a[p.first];
  const uint64_t low = a0 + static_cast<uint64_t>(p.low), high = a0 + static_cast<uint64_t>(p.high);
  if (low > c.shared_bytes || high > c.shared_bytes || high < low) [[unlikely]] {
    StopOutOfBounds(c, i, a, bytes, Space::kShared, kind);
    return false;
  }
  if (c.counting) {
    if (p.shared_phase != (a0 & 3)) CountWavefronts(p, a0, bytes, false);
    SiteCounters& n = c.site_counters[i->site];
    n.shared_requests += 1;
    n.wavefronts += p.wavefronts;
    n.conflicts += p.conflicts;
  }
  return true;
}

}  // namespace warpwright::sim::v3
