#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;


__device__ __forceinline__ float block_max(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  __syncthreads();
  return v;
}
__device__ __forceinline__ float block_sum(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  __syncthreads();
  return v;
}

// One cooperative launch with two barriers of the grid. The maxima and the sums have places of their own, so that nothing is
// written that somebody may still read. Every block combines all parts in the same way.
__global__ void __launch_bounds__(256) softmax_kernel(float* y, float* parts, const float* x, size_t n) {
  __shared__ float part[8];
  cg::grid_group grid = cg::this_grid();
  int blocks = gridDim.x;
  size_t first = (size_t)blockIdx.x * 256 + threadIdx.x, stride = (size_t)blocks * 256;
  float top = -INFINITY;
  for (size_t i = first; i < n; i += stride) top = fmaxf(top, x[i]);
  top = block_max(top, part);
  if (threadIdx.x == 0) parts[blockIdx.x] = top;
  grid.sync();
  top = block_max(threadIdx.x < blocks ? parts[threadIdx.x] : -INFINITY, part);
  float s = 0.0f;
  for (size_t i = first; i < n; i += stride) s += expf(x[i] - top);
  s = block_sum(s, part);
  if (threadIdx.x == 0) parts[256 + blockIdx.x] = s;
  grid.sync();
  s = block_sum(threadIdx.x < blocks ? parts[256 + threadIdx.x] : 0.0f, part);
  for (size_t i = first; i < n; i += stride) y[i] = expf(x[i] - top) / s;
}

void softmax_all(float* y, float* parts, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  size_t count = n, wanted = (count + 1023) / 1024;
  int blocks = wanted < 64 ? (int)wanted : 64;  // of 256 threads: resident at once on every GPU with 8 multiprocessors
  void* args[] = {&y, &parts, &x, &count};
  cudaLaunchCooperativeKernel((const void*)softmax_kernel, dim3(blocks), dim3(256), args, 0, stream);
}
