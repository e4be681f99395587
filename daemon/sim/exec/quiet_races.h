// The race check of accesses to shared memory that cannot race; exec/race.h has the rest.
#pragma once

#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {

// The common cases of race checks: one word for all lanes, or 32 lanes on 32 neighbouring words, none of them touched
// by others since the last barrier.
[[gnu::always_inline]] inline bool ReadsAreQuiet(Context& c, const AddressPattern& p, uint64_t a0, uint32_t bytes) {
  if (p.kind == AddressPattern::Kind::kUniform && bytes == c.race.quiet) {
    const size_t k = a0 / bytes;
    if (c.race.write_time[k] >= c.barrier_time) return false;
    const uint32_t own = 1u << c.warp->index, time = c.race.read_time[k];
    const uint32_t warps = time >= c.barrier_time ? c.race.read_warps[k] : 0;
    const uint32_t lanes = time >= c.warp->synchronized && warps == own ? c.race.read_lanes[k] : 0;
    c.race.read_warps[k] = warps | own;
    c.race.read_lanes[k] = lanes | c.mask;
    c.race.read_time[k] = c.time;
    return true;
  }
  if (p.kind != AddressPattern::Kind::kContiguous || c.mask != kAllLanes || bytes != c.race.quiet) return false;
  const size_t k = a0 / bytes;
  const uint32_t *wt = c.race.write_time.data() + k, *wb = c.race.write_thread.data() + k;
  const uint32_t thread = c.warp->index * kLanes;
  uint32_t hazard = 0;
  WW_LANES hazard |= wt[l] >= c.barrier_time && wb[l] != thread + l ? 1 : 0;
  if (hazard) return false;
  uint32_t *rt = c.race.read_time.data() + k, *rw = c.race.read_warps.data() + k, *rl = c.race.read_lanes.data() + k;
  const uint32_t own = 1u << c.warp->index, synchronized = c.warp->synchronized, barrier = c.barrier_time, now = c.time;
  WW_LANES {
    const uint32_t warps = rt[l] >= barrier ? rw[l] : 0;
    const uint32_t lanes = rt[l] >= synchronized && warps == own ? rl[l] : 0;
    rw[l] = warps | own;
    rl[l] = lanes | (1u << l);
    rt[l] = now;
  }
  return true;
}
[[gnu::always_inline]] inline bool WritesAreQuiet(Context& c, const AddressPattern& p, uint64_t a0, uint32_t bytes) {
  if (p.kind != AddressPattern::Kind::kContiguous || c.mask != kAllLanes || bytes != c.race.quiet) return false;
  const size_t k = a0 / bytes;
  uint32_t *wt = c.race.write_time.data() + k, *wb = c.race.write_thread.data() + k;
  uint32_t *rt = c.race.read_time.data() + k, *rw = c.race.read_warps.data() + k, *rl = c.race.read_lanes.data() + k;
  const uint32_t own = 1u << c.warp->index, thread = c.warp->index * kLanes, barrier = c.barrier_time, now = c.time;
  uint32_t hazard = 0;
  WW_LANES {
    const uint32_t written = wt[l] >= barrier && wb[l] != thread + l ? 1 : 0;
    const uint32_t read = rt[l] >= barrier && (rw[l] != own || rl[l] != 1u << l) ? 1 : 0;
    hazard |= written | read;
  }
  if (hazard) return false;
  WW_LANES {
    wt[l] = now;
    wb[l] = thread + l;
    rt[l] = 0;
  }
  return true;
}

}  // namespace warpwright::sim::v3
