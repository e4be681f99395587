// What a device counted while it ran a kernel. The simulator fills all fields; CUPTI fills those that the hardware
// supports. Keyed by field, never by position. `Fields()` gives every number a stable name for JSON, skills and
// reports.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::core {

enum class InstructionClass : uint8_t {
  kFp32,
  kFp64,
  kFp16,
  kInteger,
  kSfu,
  kConversion,
  kMove,
  kControl,
  kGlobalLoad,
  kGlobalStore,
  kSharedLoad,
  kSharedStore,
  kLocalLoad,
  kLocalStore,
  kConstantLoad,
  kAtomic,
  kWarp,
  kTensor,
  kBarrier,
  kOther,
  kCount
};
std::string_view Name(InstructionClass c);  // "fp32", "global_load", ...

struct Counters {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;  // active lanes summed
  uint64_t warp_instructions_by_class[static_cast<int>(InstructionClass::kCount)] = {};
  uint64_t flops_fp64 = 0, flops_fp32 = 0, flops_fp16 = 0;  // per thread; a fused multiply-add is two
  uint64_t flops_tensor = 0;  // of floating-point products on tensor cores, whatever their type
  // Global memory. A sector is 32 bytes; a request is one warp instruction.
  uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;  // bytes that lanes requested
  uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
  uint64_t atomic_requests = 0, atomic_sectors = 0;
  uint64_t l1_hit_sectors = 0, l1_miss_sectors = 0;
  uint64_t l2_read_bytes = 0, l2_write_bytes = 0, l2_hit_sectors = 0, l2_miss_sectors = 0;
  uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  // Shared memory. A wavefront is one pass over the 32 banks; conflicts are wavefronts beyond those that the access
  // width needs.
  uint64_t shared_requests = 0, shared_wavefronts = 0, shared_bank_conflicts = 0;
  uint64_t local_load_bytes = 0, local_store_bytes = 0;
  uint64_t branches = 0, divergent_branches = 0;  // warp level, conditional ones
  uint64_t barriers = 0;                          // warp arrivals
  uint64_t warps = 0, blocks = 0;                 // launched

  void Add(const Counters& other);
  void Scale(double factor);  // extrapolation from sampled blocks, rounded to the nearest
  bool operator==(const Counters&) const = default;
};

struct NamedCounter {
  std::string_view name;  // "global_load_sectors"
  uint64_t value;
};
std::vector<NamedCounter> Fields(const Counters& counters);
bool SetField(Counters& counters, std::string_view name, uint64_t value);  // false: no such field

// Counters of one source line, in the same units. A GPU does not count by line but samples: how often a warp was
// sampled there, and what it waited for.
struct LineCounters {
  std::string file;
  int line = 0;
  uint64_t warp_instructions = 0, thread_instructions = 0;
  uint64_t global_requests = 0, global_sectors = 0, shared_requests = 0, shared_wavefronts = 0, divergent_branches = 0;
  uint64_t samples = 0;
  std::map<std::string, uint64_t> stalls;  // samples by reason: "long_scoreboard"
};

// A line for which a launched kernel has instructions, and how often threads ran one of them; 0: no thread did.
struct LineUse {
  std::string file;
  int line = 0;
  uint64_t threads = 0;
  bool memory = false;  // one of them accesses memory other than local
};

enum class OccupancyLimiter : uint8_t { kUnknown, kWarps, kRegisters, kSharedMemory, kBlocks, kGrid };
std::string_view Name(OccupancyLimiter limiter);  // "shared memory"; "" if it was not computed
constexpr OccupancyLimiter Last(OccupancyLimiter) { return OccupancyLimiter::kGrid; }

// How many blocks fit on a multiprocessor, and what limits them.
struct Occupancy {
  int blocks_per_multiprocessor = 0;
  double theoretical = 0;  // resident warps over the chip's maximum
  double achieved = 0;     // averaged over the kernel, including the last wave and small grids
  OccupancyLimiter limiter = OccupancyLimiter::kUnknown;
  double waves = 0;
};

// The modelled time and its parts; every part in microseconds (see sim/model.h for the formula).
struct TimeBreakdown {
  double total_us = 0;
  double dram_us = 0, l2_us = 0, l1_us = 0, shared_us = 0, issue_us = 0, fp32_us = 0, fp64_us = 0, fp16_us = 0,
         tensor_us = 0, integer_us = 0, sfu_us = 0, latency_us = 0, atomic_us = 0, overhead_us = 0;
  std::string limiter;  // the name of the largest part: "dram"
};

struct LaunchReport {
  std::string kernel;
  int registers = 0;
  int threads_per_block = 0;
  uint32_t shared_bytes_per_block = 0;
  uint64_t blocks_total = 0, blocks_run = 0;  // fewer run than in total: counters are extrapolated
  Counters counters;
  std::vector<LineCounters> lines;  // hottest first by warp instructions and sectors, or by samples
  Occupancy occupancy;
  TimeBreakdown time;
  // Of a real device: its metrics under their own names, and evidence (core/evidence.h) that derives from them alone.
  // Empty on the simulator.
  std::map<std::string, double> metrics;
  // Fields of Counters, parts of `time` and "achieved_occupancy" that the device could not count. They are 0 and mean
  // nothing.
  std::set<std::string> unmeasured;
};

}  // namespace warpwright::core
