#include "sim/load_levels.h"

#include <cmath>

#include "sim/time_model.h"

namespace warpwright::sim {

void BoundDramReads(double bound, core::Counters& counters, std::vector<LoadsByLevel>& levels) {
  const auto reads = static_cast<double>(counters.dram_read_bytes);
  if (reads <= bound) return;
  const double kept = bound / reads;
  counters.dram_read_bytes = static_cast<uint64_t>(std::llround(bound));
  const auto misses = static_cast<uint64_t>(std::llround(kept * static_cast<double>(counters.l2_miss_sectors)));
  counters.l2_hit_sectors += counters.l2_miss_sectors - misses;
  counters.l2_miss_sectors = misses;
  for (LoadsByLevel& level : levels) {
    const auto dram = static_cast<uint64_t>(std::llround(kept * static_cast<double>(level.dram)));
    level.l2 += level.dram - dram;
    level.dram = dram;
  }
}

LineCost CostOfLine(const core::Chip& chip, const LoadsByLevel& at, const core::LineCounters* counted) {
  const auto ratio = [](uint64_t a, uint64_t b, double otherwise) {
    return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : otherwise;
  };
  LineCost cost;
  cost.sectors = counted ? ratio(counted->global_sectors, counted->global_requests, 4) : 4;
  cost.wavefronts = counted ? ratio(counted->shared_wavefronts, counted->shared_requests, 1) : 1;
  const uint64_t loads = at.l1 + at.l2 + at.dram;
  cost.dram_sectors = cost.sectors * ratio(at.dram, loads, 0);
  cost.l2_sectors = cost.sectors * ratio(at.l2 + at.dram, loads, 0);
  cost.load_cycles = LoadCycles(chip, static_cast<double>(at.l1), static_cast<double>(at.l2),
                                static_cast<double>(at.dram), cost.sectors);
  cost.dram_cycles = ratio(at.dram, loads, 0) * chip.dram_latency_ns * chip.clock_ghz;
  return cost;
}

}  // namespace warpwright::sim
