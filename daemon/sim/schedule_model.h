// What ptxas does to the control flow of PTX, as far as it decides how long a warp waits:
//  - A short stretch under a condition becomes predicated instructions, which are scheduled with what stands around
//  them. Guarded loads, such
//    as those of a tile with its edges checked, are therefore on their way together.
//  - A small loop of one basic block that counts by a constant is unrolled by four, whatever nvcc's front end unrolled
//  before. Four times as
//    many of its loads are on their way together.
// And which parts of a kernel follow one another: its outermost loops, and what stands between them.
//
// Where the machine code can be read, it says how a loop was unrolled and how many of its loads are under way together.
// Else the limits decide that separate the loops of some 200 measured kernels that ptxas 13.0 unrolled (up to 25
// instructions) from the others (from 47).
#pragma once

#include <cstdint>
#include <vector>

#include "compile/cubin.h"
#include "sim/instruction.h"

namespace warpwright::sim {

// All by basic block.
struct ScheduleModel {
  std::vector<uint32_t>
      region;                   // the first block of the stretch that is scheduled as one; its blocks follow each other
  std::vector<uint32_t> phase;  // 0, 1, ... in the order of the code
  std::vector<uint8_t> unroll;  // turns of a loop of one block that ptxas makes one
  std::vector<const compile::MachineLoop*> machine;  // what it made of the loop, where that is known
};
// `loops`: of the machine code; must outlive the shape.
ScheduleModel ModelSchedule(const KernelCode& kernel, const std::vector<compile::MachineLoop>& loops);

}  // namespace warpwright::sim
