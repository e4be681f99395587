#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

// One launch: the block that is last to write its part adds all of them, always in the same order. The count is in the workspace, so that calls on two
// streams do not meet.
namespace cg = cooperative_groups;

__device__ __forceinline__ double block_sum(double v) {
  __shared__ double warps[8];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += warp.shfl_xor(v, d);
  if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = v;
  cg::this_thread_block().sync();
  return ((warps[0] + warps[1]) + (warps[2] + warps[3])) + ((warps[4] + warps[5]) + (warps[6] + warps[7]));
}

__global__ void __launch_bounds__(256) dot_kernel(double* out, double* ws, const double* x, const double* y, int n) {
  __shared__ bool last;
  constexpr int kBlocks = 128;
  double a = 0, b = 0;
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  for (; i + kBlocks * 256 < n; i += 2 * kBlocks * 256) {
    a = fma(x[i], y[i], a);
    b = fma(x[i + kBlocks * 256], y[i + kBlocks * 256], b);
  }
  if (i < n) a = fma(x[i], y[i], a);
  double part = block_sum(a + b);
  unsigned* count = reinterpret_cast<unsigned*>(ws + 255);
  if (threadIdx.x == 0) {
    ws[blockIdx.x] = part;
    __threadfence();
    last = atomicAdd(count, 1u) == kBlocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  double v = threadIdx.x < kBlocks ? __ldcg(ws + threadIdx.x) : 0.0;
  v = block_sum(v);
  if (threadIdx.x == 0) *out = v;
}

void dot_product(double* out, double* ws, const double* x, const double* y, int n, cudaStream_t stream) {
  cudaMemsetAsync(ws + 255, 0, sizeof(double), stream);
  dot_kernel<<<128, 256, 0, stream>>>(out, ws, x, y, n);
}
