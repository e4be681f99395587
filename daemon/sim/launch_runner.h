// Runs one kernel launch on the simulator: spreads its blocks over host threads, feeds the cache model, samples when
// the budget runs out, and writes the report.
//
// Blocks go to host threads by the multiprocessor that would run them (block modulo multiprocessors), in groups of
// consecutive blocks; after each group, L2 sees the group's misses in the order of the blocks. Kernels without global
// atomics give the same memory contents in any order of blocks, unless they race; kernels with them run on one thread,
// in order. Hence counters and results do not depend on the number of host threads.
//
// A cooperative launch runs as a whole, block by block in time slices, on one thread.
//
// Sampling: blocks from the beginning of the grid are run until the budget is spent, then the last few, which may
// differ (guards against the end of the data). What was not run is assumed to behave like the second half of the first
// blocks: the first half pays for data that all blocks share, once. Few blocks cannot show how much their neighbours
// share in L2, so the extrapolated DRAM reads are bounded by what the kernel can reach: once, if that fits into L2,
// else once for each wave of blocks. A spread sample has neighbours at the beginning, the quarters and the end instead,
// on one thread; what it spends its instructions on and does not finish is left as it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/cubin.h"
#include "core/chip.h"
#include "core/compiled.h"
#include "core/counters.h"
#include "core/launch_plan.h"
#include "core/verdict.h"
#include "sim/cache_model.h"
#include "sim/machine.h"
#include "sim/memory.h"
#include "sim/program.h"
#include "sim/touched.h"
#include "sim/worker_pool.h"

namespace warpwright::sim {

struct LaunchLimits {
  bool counters = false;
  bool lines = false;                // tell which lines ran
  uint64_t sample_instructions = 0;  // 0: all blocks
  bool spread = false;               // few blocks, all over the grid; without counters
  uint64_t instruction_limit = 0;
  uint64_t block_limit = UINT64_MAX;
  uint64_t footprint_bytes = UINT64_MAX;  // of all memory that the kernel can reach
  // > 0, without counters: another order of the blocks, selected by this number, and of a warp's lanes
  uint64_t block_order = 0;
  Shadow* shadow = nullptr;  // runs beside, on one thread
  bool visibility = false;   // check it (exec/visibility.h), on one thread
  bool touched = false;      // with visibility: tell which bytes
};
struct LaunchResult {
  core::LaunchReport report;
  uint64_t thread_instructions = 0;  // actually run
  bool complete = true;
  bool cut_short = false;  // a spread sample, before all of its blocks had ended
  std::vector<core::LineUse> lines;
  Touched touched;
  std::optional<core::Fault> old_read;  // with visibility: the first read of an older value (exec/visibility.h)
};
using LaunchOutcome = std::variant<core::Fault, LaunchResult>;

// What every launch on this device shares.
struct LaunchContext {
  const core::Chip& chip;
  const Program& program;
  Memory& memory;
  L2Model& l2;
  WorkerPool& pool;
  const std::map<std::string, compile::CubinKernel>& machine_code;  // by symbol; some kernels may be missing
};

// `parameters` as in Launch::parameters.
Result<LaunchOutcome> RunLaunch(const LaunchContext& context, const core::KernelLaunch& launch,
                                const core::KernelResources& resources, std::span<const std::byte> parameters,
                                const LaunchLimits& limits);

}  // namespace warpwright::sim
