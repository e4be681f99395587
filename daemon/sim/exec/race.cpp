#include "sim/exec/race.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "sim/exec/order.h"
#include "sim/exec/services.h"

namespace warpwright::sim {
std::string ThreadName(const Context& c, uint32_t warp, uint32_t lane) {
  const uint64_t linear = static_cast<uint64_t>(warp) * kLanes + lane;
  const uint64_t x = linear % c.block.x, y = linear / c.block.x % c.block.y, z = linear / c.block.x / c.block.y;
  return fmt::format("({}, {}, {})", x, y, z);
}

bool Ordered(const Context& c, uint32_t lane, ThreadId other, uint32_t time) {
  if (time < c.barrier_time) return true;
  const uint32_t warp = c.warp->index;
  if (other.warp != warp) {
    if (c.partial_barriers && c.known[static_cast<size_t>(warp) * c.warps.size() + other.warp] > time) return true;
  } else {
    if (other.lane == lane || time < c.warp->synchronized) return true;
    const auto& lanes = c.lanes_known[warp];
    if (!lanes.empty() && lanes[lane * kLanes + other.lane] > time) return true;
  }
  return c.ordering && HappensBefore(c, warp * kLanes + lane, other.warp * kLanes + other.lane, time);
}

namespace {

// Where the other access can have been: the kernel's lines that do the like to shared memory, if they are few.
std::string LinesThat(const Context& c, std::string_view did) {
  constexpr size_t kFew = 3;
  const Op op = did == "writes" ? Op::kStore : did == "reads" ? Op::kLoad : Op::kAtomic;
  std::set<int> lines;
  for (const Instruction& in : c.kernel->code)
    if (in.op == op && in.space != Space::kGlobal && in.space != Space::kLocal && in.space != Space::kParam)
      if (const int line = c.program->locations[in.line].line; line > 0) lines.insert(line);
  if (lines.empty() || lines.size() > kFew) return {};
  return fmt::format("; the kernel {} shared memory in line{} {}", did, lines.size() == 1 ? "" : "s",
                     fmt::join(lines, ", "));
}

}  // namespace

bool ReportRace(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes, std::string_view what,
                ThreadId other, std::string_view did) {
  const bool same = other.warp == c.warp->index;
  std::string_view hint;
  if (same && i->is_volatile)
    hint = ": since Volta a warp's lanes need not run in step, and volatile does not order them";
  else if (c.kernel->has_strong_shared)
    hint =
        "; a lock or a flag orders it with __threadfence_block() before it is set and after it was seen, for what is "
        "done in between";
  StopWithFault(c, i, core::Fault::Kind::kSharedRace, lane,
                fmt::format("race on shared memory: {} {} while thread {} {} it, without {} in between{}{}", what,
                            DescribeAddress(c, offset, Space::kShared, bytes), ThreadName(c, other.warp, other.lane),
                            did, same ? "__syncwarp()" : "__syncthreads()", hint, LinesThat(c, did)));
  return false;
}

namespace {

bool CheckAgainstWrite(Context& c, const Instruction* i, uint32_t lane, size_t granule, uint64_t offset, uint32_t bytes,
                       std::string_view what, bool atomic) {
  const RaceShadow& r = c.race;
  const uint32_t time = r.write_time[granule];
  if (time < c.barrier_time) return true;
  const uint32_t thread = r.write_thread[granule];
  if (atomic && (thread & kWriteFlags)) return true;
  const ThreadId writer{(thread & ~kWriteFlags) / kLanes, thread % kLanes};
  if (Ordered(c, lane, writer, time)) return true;
  if (c.ordering && (thread & kWriteFlags)) {
    if (i->is_volatile && IsSynchronizationPair(c, i, lane, writer, granule)) return true;
    if (HasAcquired(c, lane, writer, granule)) return true;
  }
  return ReportRace(c, i, lane, offset, bytes, what, writer, thread & kAtomicWrite ? "updates" : "writes");
}

bool CheckAgainstReads(Context& c, const Instruction* i, uint32_t lane, size_t granule, uint64_t offset, uint32_t bytes,
                       std::string_view what, uint32_t flags) {
  const RaceShadow& r = c.race;
  const uint32_t time = r.read_time[granule];
  if (time < c.barrier_time) return true;
  if (c.ordering) return CheckOrderedReads(c, i, lane, granule, offset, bytes, what, flags);
  const uint32_t own = 1u << c.warp->index;
  for (uint32_t others = r.read_warps[granule] & ~own; others != 0; others &= others - 1) {
    // The lane of the other warp is known only if no third one read.
    const auto warp = static_cast<uint32_t>(std::countr_zero(others));
    const bool exact = r.read_warps[granule] == 1u << warp;
    const ThreadId reader{
        warp, exact && r.read_lanes[granule] ? static_cast<uint32_t>(std::countr_zero(r.read_lanes[granule])) : 0};
    // The time is that of the last reader: for an earlier one, any barrier with it since the block's last barrier
    // counts.
    if (!Ordered(c, lane, reader, exact ? time : c.barrier_time))
      return ReportRace(c, i, lane, offset, bytes, what, reader, "reads");
  }
  if (r.read_warps[granule] != own) return true;
  for (uint32_t lanes = r.read_lanes[granule] & ~(1u << lane); lanes != 0; lanes &= lanes - 1) {
    const ThreadId reader{c.warp->index, static_cast<uint32_t>(std::countr_zero(lanes))};
    if (!Ordered(c, lane, reader, time)) return ReportRace(c, i, lane, offset, bytes, what, reader, "reads");
  }
  return true;
}

void NoteRead(Context& c, const Instruction* i, size_t granule, uint32_t lane) {
  RaceShadow& r = c.race;
  if (c.ordering) NoteOrderedRead(c, i, lane, granule);
  const uint32_t own = 1u << c.warp->index;
  const uint32_t warps = r.read_time[granule] >= c.barrier_time ? r.read_warps[granule] : 0;
  const uint32_t lanes = r.read_time[granule] >= c.warp->synchronized && warps == own ? r.read_lanes[granule] : 0;
  r.read_warps[granule] = warps | own;
  r.read_lanes[granule] = (warps & ~own ? 0 : lanes) | (1u << lane);
  r.read_time[granule] = c.time;
}

void NoteWrite(Context& c, size_t granule, uint32_t lane, uint32_t flag) {
  RaceShadow& r = c.race;
  r.write_time[granule] = c.time;
  r.write_thread[granule] = (c.warp->index * kLanes + lane) | flag;
  r.read_time[granule] = 0;
}

template <bool kOrdering>
bool RecordWritesOfLanes(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes,
                         const std::byte* const* values) {
  const uint32_t granule = c.race.granule;
  const std::string_view what = "a write of";
  auto offset_of = [&](uint32_t lane) { return base + static_cast<uint64_t>(pattern.delta[lane]); };
  auto flags_of = [&](uint32_t lane) {
    return kOrdering && i->is_volatile && IsReleased(c, lane) ? kReleasingWrite : 0;
  };
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t offset = offset_of(lane);
    const bool same_value = std::memcmp(c.shared + offset, values[lane], bytes) == 0;
    for (size_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
      if (!same_value && !CheckAgainstWrite(c, i, lane, g, offset, bytes, what, false)) return false;
      if (!CheckAgainstReads(c, i, lane, g, offset, bytes, what, flags_of(lane))) return false;
    }
  }
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t offset = offset_of(lane);
    if (kOrdering) OrderStore(c, i, lane, offset, bytes);
    for (size_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) NoteWrite(c, g, lane, flags_of(lane));
  }
  return true;
}

}  // namespace

void AdvanceTime(Context& c) {
  if (++c.time < UINT32_MAX - 1) return;
  // Once in four billion synchronisations: forget everything older.
  for (auto* times : {&c.race.write_time, &c.race.read_time}) std::fill(times->begin(), times->end(), 0);
  c.time = 2;
  c.barrier_time = 1;
  for (Warp& warp : c.warps) warp.synchronized = 1;
  std::fill(c.known.begin(), c.known.end(), 0);
  for (auto& lanes : c.lanes_known) lanes.clear();
  if (c.order) c.order = MakeOrder(c.warps.size(), c.order->reads.size());
}

bool RecordReads(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes) {
  const uint32_t granule = c.race.granule;
  const std::string_view what = "a read of";
  if (pattern.kind == AddressPattern::Kind::kUniform && !c.ordering) {
    // All lanes read the same location: checked for each, recorded once.
    for (size_t g = base / granule; g <= (base + bytes - 1) / granule; ++g) {
      if (c.race.write_time[g] >= c.barrier_time)
        for (uint32_t m = c.mask; m != 0; m &= m - 1)
          if (!CheckAgainstWrite(c, i, static_cast<uint32_t>(std::countr_zero(m)), g, base, bytes, what, false))
            return false;
      NoteRead(c, i, g, pattern.first);
      if (c.race.read_warps[g] == 1u << c.warp->index) c.race.read_lanes[g] |= c.mask;
    }
    return true;
  }
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (!RecordRead(c, i, lane, base + static_cast<uint64_t>(pattern.delta[lane]), bytes)) return false;
  }
  return true;
}

bool RecordRead(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes) {
  const uint32_t granule = c.race.granule;
  for (size_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
    if (!CheckAgainstWrite(c, i, lane, g, offset, bytes, "a read of", false)) return false;
    NoteRead(c, i, g, lane);
  }
  return true;
}

bool RecordWrites(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes,
                  const std::byte* const* values) {
  auto offset_of = [&](uint32_t lane) { return base + static_cast<uint64_t>(pattern.delta[lane]); };
  if (pattern.overlaps) {
    for (uint32_t a = 0; a < kLanes; ++a) {
      for (uint32_t b = a + 1; b < kLanes; ++b) {
        if (!(c.mask >> a & 1) || !(c.mask >> b & 1) || pattern.delta[a] != pattern.delta[b]) continue;
        if (std::memcmp(values[a], values[b], bytes) != 0) {
          StopWithFault(c, i, core::Fault::Kind::kSharedRace, b,
                        fmt::format("race on shared memory: threads {} and {} write different values to {} at once",
                                    ThreadName(c, c.warp->index, a), ThreadName(c, c.warp->index, b),
                                    DescribeAddress(c, offset_of(a), Space::kShared, bytes)));
          return false;
        }
      }
    }
  }
  return c.ordering ? RecordWritesOfLanes<true>(c, i, pattern, base, bytes, values)
                    : RecordWritesOfLanes<false>(c, i, pattern, base, bytes, values);
}

bool RecordAtomics(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes) {
  const uint32_t granule = c.race.granule;
  const std::string_view what = "an atomic update of";
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    for (size_t g = offset[lane] / granule; g <= (offset[lane] + bytes - 1) / granule; ++g) {
      if (!CheckAgainstWrite(c, i, lane, g, offset[lane], bytes, what, true)) return false;
      if (!CheckAgainstReads(c, i, lane, g, offset[lane], bytes, what, kAtomicWrite)) return false;
      NoteWrite(c, g, lane, kAtomicWrite);
    }
  }
  return true;
}

void ResetRaces(Context& c) {
  if (c.ordering) EndOrdering(c, false);
  c.race_found = false;
  SynchronizeBlock(c);
}

void FinishRaces(Context& c) {
  if (c.ordering) EndOrdering(c, true);
}

void SynchronizeBlock(Context& c) {
  if (c.ordering) EndOrdering(c, true);
  AdvanceTime(c);
  c.barrier_time = c.time;
  for (Warp& warp : c.warps) warp.synchronized = c.time;
  if (c.partial_barriers) std::fill(c.known.begin(), c.known.end(), 0);
  c.partial_barriers = false;
  for (auto& lanes : c.lanes_known) lanes.clear();
}

void SynchronizeWarps(Context& c, uint32_t warps) {
  AdvanceTime(c);
  const size_t count = c.warps.size();
  if (c.known.size() != count * count) c.known.assign(count * count, 0);
  c.partial_barriers = true;
  // Each member knows what any of them knew, and all of what they did until now.
  std::vector<uint32_t> joined(count, 0);
  for (size_t w = 0; w < count; ++w) {
    if (!(warps >> w & 1)) continue;
    for (size_t v = 0; v < count; ++v) joined[v] = std::max(joined[v], c.known[w * count + v]);
    joined[w] = c.time;
  }
  for (size_t w = 0; w < count; ++w) {
    if (!(warps >> w & 1)) continue;
    std::copy(joined.begin(), joined.end(), c.known.begin() + static_cast<std::ptrdiff_t>(w * count));
    c.warps[w].synchronized = c.time;
    c.lanes_known[w].clear();
  }
  if (c.ordering) JoinWarpClocks(c, warps);
}

void SynchronizeLanes(Context& c, uint32_t members) {
  AdvanceTime(c);
  Warp& warp = *c.warp;
  auto& known = c.lanes_known[warp.index];
  if (c.ordering) JoinLaneClocks(c, members);
  if ((members & warp.live) == warp.live) {
    warp.synchronized = c.time;
    known.clear();
    return;
  }
  if (known.empty()) known.assign(kLanes * kLanes, 0);
  uint32_t joined[kLanes] = {};
  for (uint32_t a = 0; a < kLanes; ++a) {
    if (!(members >> a & 1)) continue;
    for (uint32_t b = 0; b < kLanes; ++b) joined[b] = std::max(joined[b], known[a * kLanes + b]);
  }
  for (uint32_t a = 0; a < kLanes; ++a)
    if (members >> a & 1) joined[a] = c.time;
  for (uint32_t a = 0; a < kLanes; ++a)
    if (members >> a & 1) std::copy(joined, joined + kLanes, known.begin() + a * kLanes);
}

}  // namespace warpwright::sim
