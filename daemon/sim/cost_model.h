// The cost of PTX once ptxas has compiled it to machine code. PTX is not that code: address arithmetic folds, moves
// vanish, a division becomes twenty instructions. So each decoded instruction is weighted with the instructions that it
// becomes, the unit that runs them and the cycles until its result can be used; per basic block, so that the executor
// only needs to count blocks.
//
// A block's `path` is the longest chain of dependent results in it: the time that one warp alone needs for it. Within a
// region of schedule_model.h (a block, with the code that ptxas predicates, or four iterations of a loop that it
// unrolls) ptxas is assumed to schedule freely, except that a load does not pass an earlier store or barrier of its
// space (that is why __restrict__ and unrolling help: read-only loads, ld.global.nc, do pass). Nothing overlaps across
// regions, which is right for a loop without software pipelining.
//
// Scalar loads of adjacent words of shared memory within a block become one wider load, as ptxas does when the
// alignment is known.
//
// Sources: CUDA C++ Programming Guide (throughput of native arithmetic); latencies of dependent instructions from Luo
// et al. 2024 and Abdelkhalik et al. 2022 ("Demystifying the Nvidia Ampere Architecture through Microbenchmarking"): 4
// cycles for FP32 and integers, about 8 for FP64 on data-centre chips, 18 to 23 for special functions and shuffles;
// expansions as ptxas prints them for sm_80 and sm_90.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/chip.h"
#include "sim/instruction.h"
#include "sim/schedule_model.h"

namespace warpwright::sim {

// In warp instructions, except `path`.
struct Work {
  double issue = 0;  // issue slots; the units below are included
  double fp32 = 0, fp64 = 0, fp16 = 0, integer = 0, sfu = 0, conversion = 0, shuffle = 0;
  double tensor_fmas = 0;  // of the whole warp, weighted: as many of f16 would take as long
  double merged_shared_loads =
      0;                   // scalar loads of adjacent words that ptxas joins into one of 8 or 16 bytes; not in `issue`
  double path_cycles = 0;  // of one warp alone
  double dram_cycles = 0;  // of these, the latency of DRAM; filled in by the caller that knows it
  // What loads and stores of global memory request from each level, in sectors, and from shared memory: shows where in
  // a kernel the traffic is; only its sum is counted.
  double load_sectors = 0, l2_sectors = 0, dram_sectors = 0, store_sectors = 0, wavefronts = 0;

  void Add(const Work& other, double factor);
};

// A memory instruction of a source line (an index into ProgramCode::locations), on average.
struct LineCost {
  double load_cycles = 0;  // latency of a global or local load
  double dram_cycles = 0;  // of these, DRAM's
  double sectors = 0, l2_sectors = 0,
         dram_sectors = 0;  // of a request to global memory, and those of a load that come from L2 or from DRAM
  double wavefronts = 1;    // of a request to shared memory
};

// The result has one element for each basic block. The path of a region is that of its first block.
std::vector<Work> BlockWork(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                            int warps_per_block, const std::function<LineCost(uint32_t)>& line_cost);

// Sum over the blocks of each phase, each block `counts[block]` times.
std::vector<Work> PhaseWork(const std::vector<Work>& blocks, const ScheduleModel& shape,
                            const std::vector<uint64_t>& counts);

}  // namespace warpwright::sim
