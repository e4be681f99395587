// What PTX costs once ptxas has made machine code of it. PTX is not that code: address arithmetic folds, moves vanish,
// a division becomes twenty instructions. So each decoded instruction is weighed with the instructions that it becomes,
// the unit that runs them and the cycles until its result can be used; per basic block, so that the executor needs to
// count blocks only.
//
// A block's `path` is the longest chain of dependent results in it: what one warp alone needs for it. Within a block
// ptxas is taken to schedule freely, except that a load does not pass an earlier store or barrier of its space (that is
// why __restrict__ and unrolling help: read-only loads, ld.global.nc, do pass). Nothing overlaps across blocks, which
// is right for a loop without software pipelining and too slow for loads that are spread over several guarded blocks.
//
// Scalar loads of adjacent words of shared memory within a block become one wider load, as ptxas does where the
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

namespace warpwright::sim {

// In warp instructions, except `path`.
struct Work {
  double issue = 0;  // issue slots; the units below are included
  double fp32 = 0, fp64 = 0, fp16 = 0, integer = 0, sfu = 0, conversion = 0, shuffle = 0;
  double merged_shared_loads =
      0;                   // scalar loads of adjacent words that ptxas joins into one of 8 or 16 bytes; not in `issue`
  double path_cycles = 0;  // of one warp alone

  void Add(const Work& other, double factor);
};

// `load_cycles(line)`: average latency of a global or local load of that source line (an index into
// ProgramCode::locations). The result has one element for each basic block.
std::vector<Work> BlockWork(const KernelCode& kernel, const Chip& chip, int warps_per_block,
                            const std::function<double(uint32_t)>& load_cycles);

// Sum over the blocks, each `counts[block]` times.
Work TotalWork(const std::vector<Work>& blocks, const std::vector<uint64_t>& counts);

}  // namespace warpwright::sim
