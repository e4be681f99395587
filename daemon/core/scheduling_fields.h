// How what schedules are told is encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/computation_fields.h"
#include "core/kernel_spec_fields.h"
#include "core/scheduling.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const Chip*) {
  using T = Chip;
  field("id", &T::id);
  field("name", &T::name);
  field("arch", &T::arch);
  field("multiprocessors", &T::multiprocessors);
  field("clock_ghz", &T::clock_ghz);
  field("warp_schedulers", &T::warp_schedulers);
  field("max_warps", &T::max_warps);
  field("max_blocks", &T::max_blocks);
  field("registers", &T::registers);
  field("register_allocation_unit", &T::register_allocation_unit);
  field("shared_bytes", &T::shared_bytes);
  field("shared_bytes_per_block_optin", &T::shared_bytes_per_block_optin);
  field("shared_bytes_reserved_per_block", &T::shared_bytes_reserved_per_block);
  field("shared_allocation_unit", &T::shared_allocation_unit);
  field("l1_bytes", &T::l1_bytes);
  field("l2_bytes", &T::l2_bytes);
  field("dram_bytes_per_second", &T::dram_bytes_per_second);
  field("l2_bytes_per_second", &T::l2_bytes_per_second);
  field("l1_bytes_per_cycle", &T::l1_bytes_per_cycle);
  field("l2_write_bytes_per_second", &T::l2_write_bytes_per_second);
  field("l2_bytes_per_cycle", &T::l2_bytes_per_cycle);
  field("atomics_per_cycle", &T::atomics_per_cycle);
  field("l2_atomics_per_cycle", &T::l2_atomics_per_cycle);
  field("fp32_lanes", &T::fp32_lanes);
  field("fp64_lanes", &T::fp64_lanes);
  field("fp16_lanes", &T::fp16_lanes);
  field("tensor_fma_per_cycle", &T::tensor_fma_per_cycle);
  field("int_lanes", &T::int_lanes);
  field("sfu_lanes", &T::sfu_lanes);
  field("conversion_lanes", &T::conversion_lanes);
  field("lsu_lanes", &T::lsu_lanes);
  field("dram_latency_ns", &T::dram_latency_ns);
  field("dram_queue_ns", &T::dram_queue_ns);
  field("l2_latency_ns", &T::l2_latency_ns);
  field("l1_latency_cycles", &T::l1_latency_cycles);
  field("shared_latency_cycles", &T::shared_latency_cycles);
  field("launch_overhead_us", &T::launch_overhead_us);
  field("block_launch_cycles", &T::block_launch_cycles);
}
template <typename V>
void Describe(V& field, const ScheduledCase*) {
  using T = ScheduledCase;
  field("sizes", &T::sizes);
  field("weight", &T::weight);
}
template <typename V>
void Describe(V& field, const SegmentForm*) {
  field("number", &SegmentForm::number);
  field("computation", &SegmentForm::computation);
}
template <typename V>
void Describe(V& field, const Scheduling*) {
  using T = Scheduling;
  field("computation", &T::computation);
  field("spec", &T::spec);
  field("cases", &T::cases);
  field("chip", &T::chip);
  field.Sparse("segments", &T::segments);
}

}  // namespace warpwright::core
