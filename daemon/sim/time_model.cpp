#include "sim/time_model.h"

#include <algorithm>
#include <cmath>

namespace warpwright::sim {

namespace {

double D(uint64_t value) { return static_cast<double>(value); }

// What a kernel, or a phase of it, demands of the chip.
struct Demand {
  Work work;
  double dram_bytes = 0, l2_bytes = 0, l2_write_bytes = 0, l2_read_slots = 0, l2_write_slots = 0, l1_sectors = 0,
         l1_tags = 0;
  double wavefronts = 0, atomic_slots = 0, hottest_atomics = 0;
};

Demand WholeDemand(const TimeInputs& inputs) {
  const core::Counters& c = inputs.counters;
  return {.work = inputs.work,
          .dram_bytes = D(c.dram_read_bytes + c.dram_write_bytes),
          .l2_bytes = D(c.l2_read_bytes + c.l2_write_bytes),
          .l2_write_bytes = D(c.l2_write_bytes),
          .l2_read_slots = D(inputs.traffic.l2_read_slots),
          .l2_write_slots = D(inputs.traffic.l2_write_slots),
          .l1_sectors = D(c.l1_hit_sectors + c.l1_miss_sectors) + D(c.l2_write_bytes) / 32,
          .l1_tags = D(inputs.traffic.l1_tags),
          .wavefronts =
              D(c.shared_wavefronts) *
              (1 - (c.shared_requests > 0 ? std::min(1.0, inputs.work.merged_shared_loads / D(c.shared_requests)) : 0)),
          .atomic_slots = D(inputs.traffic.l2_atomic_slots),
          .hottest_atomics = D(inputs.hottest_atomics)};
}

// A phase's part of the kernel's demand: the counted totals, in proportion to the phase's share of all loads and
// stores.
Demand PhaseDemand(const TimeInputs& inputs, const Demand& whole, const Work& phase) {
  const Work& work = inputs.work;
  const auto share = [](double part, double all) { return all > 0 ? part / all : 0.0; };
  const double loads = share(phase.load_sectors, work.load_sectors),
               stores = share(phase.store_sectors, work.store_sectors);
  const double from_l2 = share(phase.l2_sectors, work.l2_sectors);
  const double requests = share(phase.load_sectors + phase.store_sectors, work.load_sectors + work.store_sectors);
  const core::Counters& c = inputs.counters;
  Demand demand;
  demand.work = phase;
  double issue = 0;  // without spills, which are not known by phase
  for (const Work& each : inputs.phases) issue += each.issue;
  demand.work.issue *= share(work.issue, issue);
  demand.dram_bytes =
      D(c.dram_read_bytes) * share(phase.dram_sectors, work.dram_sectors) + D(c.dram_write_bytes) * stores;
  demand.l2_bytes = D(c.l2_read_bytes) * from_l2 + D(c.l2_write_bytes) * stores;
  demand.l2_write_bytes = D(c.l2_write_bytes) * stores;
  demand.l2_read_slots = whole.l2_read_slots * from_l2;
  demand.l2_write_slots = whole.l2_write_slots * stores;
  demand.l1_sectors = D(c.l1_hit_sectors + c.l1_miss_sectors) * loads + D(c.l2_write_bytes) / 32 * stores;
  demand.l1_tags = whole.l1_tags * requests;
  demand.wavefronts = whole.wavefronts * share(phase.wavefronts, work.wavefronts);
  demand.atomic_slots = whole.atomic_slots * stores;
  demand.hottest_atomics = whole.hottest_atomics * stores;
  return demand;
}

core::TimeBreakdown PartsOf(const core::Chip& chip, const TimeInputs& inputs, const Demand& demand) {
  core::TimeBreakdown time;
  const double cycles_per_us = chip.clock_ghz * 1e3;
  const double blocks = D(inputs.working_blocks > 0 ? inputs.working_blocks : inputs.blocks);
  const double blocks_of_busiest = std::ceil(blocks / chip.multiprocessors);
  const double share = blocks_of_busiest / blocks;  // q
  const auto cycles_us = [&](double cycles) { return share * cycles / cycles_per_us; };
  const auto unit_us = [&](double results, double lanes) { return cycles_us(results * 32 / lanes); };
  const Work& work = demand.work;

  time.dram_us = demand.dram_bytes / chip.dram_bytes_per_second * 1e6;
  time.l2_us = std::max({demand.l2_read_slots * 32 / chip.l2_bytes_per_second * 1e6,
                         demand.l2_write_slots / 20 * 128 / chip.l2_write_bytes_per_second * 1e6,
                         share * chip.multiprocessors * demand.l2_write_bytes / chip.l2_write_bytes_per_second * 1e6,
                         cycles_us(demand.l2_bytes / chip.l2_bytes_per_cycle)});
  time.l1_us = cycles_us(std::max(demand.l1_sectors * 32 / chip.l1_bytes_per_cycle, demand.l1_tags));
  time.shared_us = cycles_us(demand.wavefronts + work.shuffle);
  time.issue_us = cycles_us(work.issue / chip.warp_schedulers);
  time.fp32_us = unit_us(work.fp32, chip.fp32_lanes);
  time.fp64_us = unit_us(work.fp64, chip.fp64_lanes);
  time.fp16_us = unit_us(2 * work.fp16, chip.fp16_lanes);
  if (chip.tensor_fma_per_cycle > 0) time.tensor_us = cycles_us(work.tensor_fmas / chip.tensor_fma_per_cycle);
  time.integer_us = std::max(unit_us(work.integer, 2 * chip.int_lanes),
                             unit_us(work.integer + work.fp32, chip.int_lanes + chip.fp32_lanes));
  time.sfu_us = std::max(unit_us(work.sfu, chip.sfu_lanes), unit_us(work.conversion, chip.conversion_lanes));
  time.atomic_us =
      std::max(demand.atomic_slots / chip.l2_atomics_per_cycle, demand.hottest_atomics / chip.atomics_per_cycle) /
      cycles_per_us;
  const auto warps_per_block = (inputs.threads_per_block + 31) / 32;
  const double warps = blocks * warps_per_block;
  const double rounds = std::ceil(blocks_of_busiest / inputs.occupancy.blocks_per_multiprocessor);
  time.latency_us = rounds * work.path_cycles / warps / cycles_per_us;
  return time;
}

double Eighth(double x) {
  const double x2 = x * x, x4 = x2 * x2;
  return x4 * x4;
}

// Parts that overlap, but not perfectly.
double Overlapped(const core::Chip& chip, const Demand& demand, const core::TimeBreakdown& time,
                  double block_launch_us) {
  // Loads wait longer the busier the memory is.
  const double dram_latency_us =
      demand.work.path_cycles > 0 ? time.latency_us * demand.work.dram_cycles / demand.work.path_cycles : 0;
  const double queue = chip.dram_latency_ns > 0 ? chip.dram_queue_ns / chip.dram_latency_ns : 0;
  const double apart = time.latency_us - time.dram_us;
  const double memory_us =
      0.5 * (time.latency_us + time.dram_us + std::sqrt(apart * apart + 4 * queue * dram_latency_us * time.dram_us));
  double sum = 0;  // no std::pow, whose last bit depends on the host
  for (const double part :
       {memory_us, time.l2_us, time.l1_us + time.shared_us, time.issue_us, time.fp32_us, time.fp64_us, time.fp16_us,
        time.tensor_us, time.integer_us, time.sfu_us, time.atomic_us, block_launch_us})
    sum += Eighth(part);
  return std::sqrt(std::sqrt(std::sqrt(sum)));
}

// Each phase of a kernel separately.
double Separate(const core::Chip& chip, const TimeInputs& inputs, const Demand& whole, double block_launch_us,
                double& weight) {
  const double blocks = D(inputs.working_blocks > 0 ? inputs.working_blocks : inputs.blocks);
  const auto warps_per_block = (inputs.threads_per_block + 31) / 32;
  const double warps = blocks * warps_per_block;
  const double resident = inputs.occupancy.blocks_per_multiprocessor;
  const double first_wave = std::min(1.0, resident * chip.multiprocessors / blocks);
  const double in_step = first_wave + (1 - first_wave) / resident, apart = 1 / resident;
  double sum = 0, weighed = 0, before = 0;  // `before`: the sum over the phases that are followed by another one
  for (size_t i = 0; i < inputs.phases.size(); ++i) {
    const Demand demand = PhaseDemand(inputs, whole, inputs.phases[i]);
    const double us = Overlapped(chip, demand, PartsOf(chip, inputs, demand), 0);
    sum += us;
    if (i + 1 == inputs.phases.size()) break;
    before += us;
    weighed += us * (demand.work.l2_sectors >= warps ? in_step : apart);
  }
  weight = before > 0 ? weighed / before : 0;
  return std::sqrt(std::sqrt(std::sqrt(Eighth(sum) + Eighth(block_launch_us))));
}

}  // namespace

double LoadCycles(const core::Chip& chip, double l1_requests, double l2_requests, double dram_requests,
                  double sectors_per_request) {
  const double l2_cycles = chip.l2_latency_ns * chip.clock_ghz, dram_cycles = chip.dram_latency_ns * chip.clock_ghz;
  const double requests = l1_requests + l2_requests + dram_requests;
  if (requests <= 0) return chip.shared_latency_cycles;  // a generic access that never left the multiprocessor
  const double transfer = std::max(0.0, sectors_per_request - 4) * 32;  // bytes after the first four sectors
  const double l1 = chip.l1_latency_cycles + transfer / chip.l1_bytes_per_cycle;
  const double port = transfer / chip.l2_bytes_per_cycle;
  return (l1_requests * l1 + l2_requests * (l2_cycles + port) + dram_requests * (dram_cycles + port)) / requests;
}

core::TimeBreakdown ModelTime(const core::Chip& chip, const TimeInputs& inputs) {
  core::TimeBreakdown time;
  time.overhead_us = chip.launch_overhead_us;
  time.total_us = time.overhead_us;
  time.limiter = "overhead";
  if (inputs.blocks == 0 || inputs.occupancy.blocks_per_multiprocessor == 0) return time;
  const double block_launch_us = D(inputs.blocks) * chip.block_launch_cycles / (chip.clock_ghz * 1e3);
  const Demand whole = WholeDemand(inputs);
  time = PartsOf(chip, inputs, whole);
  time.overhead_us = chip.launch_overhead_us + block_launch_us;
  const std::pair<const char*, double> parts[] = {{"dram", time.dram_us},     {"l2", time.l2_us},
                                                  {"l1", time.l1_us},         {"shared", time.shared_us},
                                                  {"issue", time.issue_us},   {"fp32", time.fp32_us},
                                                  {"fp64", time.fp64_us},     {"fp16", time.fp16_us},
                                                  {"tensor", time.tensor_us}, {"integer", time.integer_us},
                                                  {"sfu", time.sfu_us},       {"latency", time.latency_us},
                                                  {"atomic", time.atomic_us}, {"overhead", time.overhead_us}};
  const auto* largest =
      std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) { return a.second < b.second; });
  time.limiter = largest->first;

  double total = Overlapped(chip, whole, time, block_launch_us);
  if (inputs.phases.size() > 1) {
    double weight = 0;
    const double separate = Separate(chip, inputs, whole, block_launch_us, weight);
    total += weight * (separate - total);
  }
  time.total_us = total + chip.launch_overhead_us;
  return time;
}

}  // namespace warpwright::sim
