#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace fastnn {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 65535;

inline int num_blocks(int64_t numel, int threads = kThreads) {
  return static_cast<int>(std::min<int64_t>((numel + threads - 1) / threads, kMaxBlocks));
}

#define CUDA_KERNEL_LOOP(i, n) \
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < (n); \
       i += static_cast<int64_t>(blockDim.x) * gridDim.x)

}  // namespace fastnn
