// What ptxas does to the control flow of PTX, as far as it determines how long a warp waits:
//  - A short run of instructions under a condition becomes predicated instructions, which are scheduled with the code
//    around them. Guarded loads, such as those of a tile with bounds checks, are therefore in flight together.
//  - A small loop of one basic block with a constant increment is unrolled by four, regardless of what nvcc's front end
//    unrolled before. Four times as many of its loads are in flight together.
// It also gives the successive parts of a kernel: its outermost loops, and the code between them.
//
// If the machine code can be read, it shows how a loop was unrolled and how many of its loads are in flight together.
// Otherwise limits decide: in some 200 measured kernels, they separate the loops that ptxas 13.0 unrolled (up to 25
// instructions) from the others (from 47).
#pragma once

#include <cstdint>
#include <vector>

#include "compile/cubin.h"
#include "sim/instruction.h"

namespace warpwright::sim {

// All by basic block.
struct ScheduleModel {
  std::vector<uint32_t> region;  // the first block of the region that is scheduled as one; its blocks are consecutive
  std::vector<uint32_t> phase;   // 0, 1, ... in the order of the code
  std::vector<uint8_t> unroll;   // iterations of a one-block loop that ptxas merges into one
  std::vector<const compile::MachineLoop*> machine;  // ptxas's machine code of the loop, if known
};
// `loops`: those of the machine code; they must outlive the result.
ScheduleModel ModelSchedule(const KernelCode& kernel, const std::vector<compile::MachineLoop>& loops);

}  // namespace warpwright::sim
