// The simulated GPU with core/device.h's interface: runs launch plans on the CPU and models their time for one chip.
//
// Everything is deterministic: two runs of the same request give the same buffers, counters, times and faults, for any
// number of host threads, unless blocks of the kernel race with each other in global memory.
//
// Times: kernels as in time_model.h; a memset or a copy takes the launch overhead plus the time of its bytes at DRAM
// bandwidth; setup operations take none. With options.guard_bytes > 0 the guard bands are ordinary memory to the
// kernel, and are compared afterwards; without them, every access outside a buffer is a fault. After a sampled launch
// all memory counts as written: a later kernel must not be faulted for reading what the skipped blocks would have
// written.
#pragma once

#include <memory>

#include "core/device.h"

namespace warpwright::sim {

// `threads`: host threads; 0 for one per core.
std::unique_ptr<core::Device> MakeSimDevice(const core::Chip& chip, int threads = 0);

}  // namespace warpwright::sim
