// Random kernels in PTX for the executor: arithmetic of all types, packed registers, predicates, exchanges between
// lanes, shared, local and global memory, atomics, addresses that depend on data, loops and branches with concrete
// conditions. Without a data branch, a kernel computes the same expressions whatever its inputs are.
#pragma once

#include <cstdint>
#include <string>

namespace warpwright::lift {

struct RandomProgram {
  std::string ptx;  // of the kernel "k", whose parameters are the buffers below, as pointers
  uint32_t threads = 32, blocks = 1;
};

// Its buffers, in order. Every thread of every block has kPerThread elements of each but the last two, which all share.
inline constexpr uint32_t kPerThread = 8, kShared = 8;
// f32, f64, f16, bf16, s32, s64, u8; results: f32, f64, f16, u32, s64; sums of f32, a table of s32.
inline constexpr int kProgramBuffers = 14;

RandomProgram MakeRandomProgram(uint64_t seed);

}  // namespace warpwright::lift
