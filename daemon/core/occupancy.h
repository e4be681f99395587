// How many blocks fit on a multiprocessor. The rules are those of NVIDIA's cuda_occupancy.h: registers are allocated to
// warps in units and per scheduler, shared memory to blocks in units plus a part that the system reserves.
#pragma once

#include "core/chip.h"
#include "core/counters.h"

namespace warpwright::core {

struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  uint32_t shared_bytes = 0;  // static and dynamic
};

// `blocks`: of the grid. blocks_per_multiprocessor is 0 if not even one block fits; the limiter then names the resource
// that is exceeded. `achieved` is the average of resident warps over all multiprocessors and waves, if all blocks take
// equally long.
Occupancy ComputeOccupancy(const Chip& chip, const BlockNeeds& needs, uint64_t blocks);

}  // namespace warpwright::core
