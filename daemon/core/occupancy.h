// How many blocks fit a multiprocessor. The rules are those of NVIDIA's cuda_occupancy.h: registers are given to warps
// in units and per scheduler, shared memory to blocks in units plus a part that the system reserves.
#pragma once

#include "core/chip.h"
#include "core/counters.h"

namespace warpwright::core {

struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  uint32_t shared_bytes = 0;  // static and dynamic
};

// `blocks` of the grid. blocks_per_multiprocessor is 0 where one block alone does not fit; the limiter then says what
// it lacks. `achieved` is the average of resident warps over all multiprocessors and waves, if all blocks take equally
// long.
Occupancy ComputeOccupancy(const Chip& chip, const BlockNeeds& needs, uint64_t blocks);

}  // namespace warpwright::core
