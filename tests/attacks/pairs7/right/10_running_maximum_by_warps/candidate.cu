#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;


// A block has a row and goes through it by 1024 elements, four for each thread; what came before is carried in a register of all.
__global__ void __launch_bounds__(256) running_kernel(float* y, const float* x, int C) {
  __shared__ float of_warps[2][8];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const float* from = x + (size_t)blockIdx.x * C;
  float* to = y + (size_t)blockIdx.x * C;
  float carry = -INFINITY;
  int turn = 0;
  for (unsigned c0 = 0; c0 < (unsigned)C; c0 += 1024, turn ^= 1) {
    float v[4];
    unsigned first = c0 + block.thread_rank() * 4;
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = first + k < (unsigned)C ? from[first + k] : -INFINITY;
    v[0] = fmaxf(-INFINITY, v[0]);
#pragma unroll
    for (int k = 1; k < 4; ++k) v[k] = fmaxf(v[k - 1], v[k]);
    float scan = v[3];
    for (unsigned d = 1; d < 32; d *= 2) {
      float before = warp.shfl_up(scan, d);
      if (warp.thread_rank() >= d) scan = fmaxf(before, scan);
    }
    if (warp.thread_rank() == 31) of_warps[turn][warp.meta_group_rank()] = scan;
    float before = warp.shfl_up(scan, 1);
    before = warp.thread_rank() > 0 ? fmaxf(carry, before) : carry;
    block.sync();  // the other array is free until the next one but this
    for (unsigned w = 0; w < 8; ++w) {
      float whole = of_warps[turn][w];
      if (w < warp.meta_group_rank()) before = fmaxf(before, whole);
      carry = fmaxf(carry, whole);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + k < (unsigned)C) to[first + k] = fmaxf(before, v[k]);
  }
}

void running_maximum(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  running_kernel<<<R, 256, 0, stream>>>(y, x, C);
}
