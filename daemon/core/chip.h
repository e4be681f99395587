// Figures of a GPU. The simulator models times with them; the judge takes limits from them. config/chips/*.yml holds
// them, each with its source.
#pragma once

#include <cstdint>
#include <string>

namespace warpwright::core {

struct Chip {
  std::string id;    // "h200"
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90"
  int multiprocessors = 0;
  double clock_ghz = 0;     // sustained boost
  int warp_schedulers = 4;  // per multiprocessor; each issues one warp instruction a cycle
  int max_warps = 64;       // resident per multiprocessor
  int max_blocks = 32;
  int registers = 65536;               // 32-bit, per multiprocessor
  int register_allocation_unit = 256;  // per warp
  int shared_bytes = 0;                // per multiprocessor, for blocks
  int shared_bytes_per_block_optin = 0;
  int shared_bytes_reserved_per_block = 1024;
  int shared_allocation_unit = 128;
  int l1_bytes = 0;  // L1 and shared together, per multiprocessor
  double l2_bytes = 0;
  double dram_bytes_per_second = 0;  // measured where known, else a stated share of the data sheet's
  double l2_bytes_per_second = 0;
  double l1_bytes_per_cycle = 128;       // per multiprocessor
  double l2_write_bytes_per_second = 0;  // of whole lines
  double l2_bytes_per_cycle = 64;        // between L2 and one multiprocessor
  double atomics_per_cycle = 1;          // at one location (1 KiB), in sectors of a warp's request
  double l2_atomics_per_cycle = 48;      // of the whole L2
  double fp32_lanes = 128;               // per multiprocessor and cycle
  double fp64_lanes = 64;
  double fp16_lanes = 256;          // two per lane of x2 arithmetic
  double tensor_fma_per_cycle = 0;  // per multiprocessor: f16 by mma.sync with sums in f32, the rest in proportion
  double int_lanes = 64;
  double sfu_lanes = 16;
  double conversion_lanes = 64;
  double lsu_lanes = 32;       // address lanes per cycle
  double dram_latency_ns = 0;  // of an idle memory
  double dram_queue_ns = 0;    // added at a load of one half; in general this times load / (1 - load)
  double l2_latency_ns = 0;
  double l1_latency_cycles = 33;
  double shared_latency_cycles = 29;
  double launch_overhead_us = 0;   // of one kernel, back to back
  double block_launch_cycles = 0;  // between two blocks that the chip starts
};

// What a driver reports about a GPU; config/gpu_chip.h finds its figures.
struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  std::string uuid;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int clock_khz = 0;
  int l2_bytes = 0;
  int memory_clock_khz = 0, bus_width_bits = 0;
  int64_t memory_bytes = 0, free_bytes = 0;
  int driver_version = 0;  // 13000: CUDA 13.0
};

}  // namespace warpwright::core
