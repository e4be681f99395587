#include "sim/time_model.h"

#include <algorithm>
#include <cmath>

namespace warpwright::sim {

namespace {

double D(uint64_t value) { return static_cast<double>(value); }

}  // namespace

double LoadCycles(const Chip& chip, double l1_requests, double l2_requests, double dram_requests,
                  double sectors_per_request) {
  const double l2_cycles = chip.l2_latency_ns * chip.clock_ghz, dram_cycles = chip.dram_latency_ns * chip.clock_ghz;
  const double requests = l1_requests + l2_requests + dram_requests;
  if (requests <= 0) return chip.shared_latency_cycles;  // a generic access that never left the multiprocessor
  const double transfer = std::max(0.0, sectors_per_request - 4) * 32;  // bytes behind the first four sectors
  const double l1 = chip.l1_latency_cycles + transfer / chip.l1_bytes_per_cycle;
  const double port = transfer / chip.l2_bytes_per_cycle;
  return (l1_requests * l1 + l2_requests * (l2_cycles + port) + dram_requests * (dram_cycles + port)) / requests;
}

TimeBreakdown ModelTime(const Chip& chip, const TimeInputs& inputs) {
  TimeBreakdown time;
  time.overhead_us = chip.launch_overhead_us;
  time.total_us = time.overhead_us;
  time.limiter = "overhead";
  if (inputs.blocks == 0 || inputs.occupancy.blocks_per_multiprocessor == 0) return time;
  const Counters& c = inputs.counters;
  const double cycles_per_us = chip.clock_ghz * 1e3;
  const double blocks = D(inputs.working_blocks > 0 ? inputs.working_blocks : inputs.blocks);
  const double blocks_of_busiest = std::ceil(blocks / chip.multiprocessors);
  const double share = blocks_of_busiest / blocks;  // q
  const auto cycles_us = [&](double cycles) { return share * cycles / cycles_per_us; };
  const auto unit_us = [&](double results, double lanes) { return cycles_us(results * 32 / lanes); };

  time.dram_us = D(c.dram_read_bytes + c.dram_write_bytes) / chip.dram_bytes_per_second * 1e6;
  const double l2_bytes = D(c.l2_read_bytes + c.l2_write_bytes);
  time.l2_us = std::max({D(inputs.traffic.l2_read_slots) * 32 / chip.l2_bytes_per_second * 1e6,
                         D(inputs.traffic.l2_write_slots) / 20 * 128 / chip.l2_write_bytes_per_second * 1e6,
                         cycles_us(l2_bytes / chip.l2_bytes_per_cycle)});
  const double l1_sectors = D(c.l1_hit_sectors + c.l1_miss_sectors) + D(c.l2_write_bytes) / 32;
  time.l1_us = cycles_us(std::max(l1_sectors * 32 / chip.l1_bytes_per_cycle, D(inputs.traffic.l1_tags)));
  const double merged =
      c.shared_requests > 0 ? std::min(1.0, inputs.work.merged_shared_loads / D(c.shared_requests)) : 0;
  time.shared_us = cycles_us(D(c.shared_wavefronts) * (1 - merged) + inputs.work.shuffle);
  time.issue_us = cycles_us(inputs.work.issue / chip.warp_schedulers);
  time.fp32_us = unit_us(inputs.work.fp32, chip.fp32_lanes);
  time.fp64_us = unit_us(inputs.work.fp64, chip.fp64_lanes);
  time.fp16_us = unit_us(2 * inputs.work.fp16, chip.fp16_lanes);
  time.integer_us = std::max(unit_us(inputs.work.integer, 2 * chip.int_lanes),
                             unit_us(inputs.work.integer + inputs.work.fp32, chip.int_lanes + chip.fp32_lanes));
  time.sfu_us =
      std::max(unit_us(inputs.work.sfu, chip.sfu_lanes), unit_us(inputs.work.conversion, chip.conversion_lanes));
  time.atomic_us =
      std::max(D(inputs.traffic.l2_atomic_slots) / chip.l2_atomics_per_cycle, D(inputs.hottest_atomics) / chip.atomics_per_cycle) /
      cycles_per_us;
  const double block_launch_us = D(inputs.blocks) * chip.block_launch_cycles / cycles_per_us;

  const double warps = blocks * ((inputs.threads_per_block + 31) / 32);
  const double rounds = std::ceil(blocks_of_busiest / inputs.occupancy.blocks_per_multiprocessor);
  time.latency_us = rounds * inputs.work.path_cycles / warps / cycles_per_us;

  time.overhead_us += block_launch_us;
  const std::pair<const char*, double> parts[] = {
      {"dram", time.dram_us},        {"l2", time.l2_us},     {"l1", time.l1_us},           {"shared", time.shared_us},
      {"issue", time.issue_us},      {"fp32", time.fp32_us}, {"fp64", time.fp64_us},       {"fp16", time.fp16_us},
      {"integer", time.integer_us},  {"sfu", time.sfu_us},   {"latency", time.latency_us}, {"atomic", time.atomic_us},
      {"overhead", time.overhead_us}};
  const auto* largest =
      std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) { return a.second < b.second; });
  time.limiter = largest->first;
  double sum = 0;  // of fourth powers; no std::pow, whose last bit depends on the host
  for (const double part :
       {time.dram_us, time.l2_us, time.l1_us + time.shared_us, time.issue_us, time.fp32_us, time.fp64_us, time.fp16_us,
        time.integer_us, time.sfu_us, time.latency_us, time.atomic_us, block_launch_us})
    sum += part * part * part * part;
  time.total_us = std::sqrt(std::sqrt(sum)) + chip.launch_overhead_us;
  return time;
}

}  // namespace warpwright::sim
