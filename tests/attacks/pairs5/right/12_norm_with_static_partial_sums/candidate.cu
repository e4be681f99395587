#include <cuda_bf16.h>
#include <cuda_runtime.h>


__device__ float partial_sums[1024];  // the first gridDim.x are written by every call before they are read

__device__ float block_sum(float s) {
  __shared__ float sums[8];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0.0f;
  for (int w = 0; w < 8; ++w) s += sums[w];
  return s;
}

__device__ float square(__nv_bfloat16 g) {
  float v = __bfloat162float(g);
  return v * v;
}

// The first elements, up to a boundary of 16 bytes, and those behind the last whole vector are added one by one.
__global__ void __launch_bounds__(256) square_sums(const __nv_bfloat16* __restrict__ g, int n, int head, int vectors) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x, threads = (size_t)gridDim.x * 256;
  float s = 0.0f;
  const uint4* inner = (const uint4*)(g + head);
  for (size_t i = t; i < (size_t)vectors; i += threads) {
    uint4 loaded = inner[i];
    const __nv_bfloat16* values = (const __nv_bfloat16*)&loaded;
#pragma unroll
    for (int j = 0; j < 8; ++j) s += square(values[j]);
  }
  if (t < (size_t)head) s += square(g[t]);
  for (size_t i = (size_t)head + (size_t)vectors * 8 + t; i < (size_t)n; i += threads) s += square(g[i]);
  s = block_sum(s);
  if (threadIdx.x == 0) partial_sums[blockIdx.x] = s;
}

__global__ void __launch_bounds__(256) root_of_sums(float* norm, int blocks) {
  float s = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += 256) s += partial_sums[i];
  s = block_sum(s);
  if (threadIdx.x == 0) *norm = sqrtf(s);
}

// norm = sqrt(sum(g^2)); n = 0 gives 0. Calls must not overlap.
void grad_norm(float* norm, const __nv_bfloat16* g, int n, cudaStream_t stream) {
  if (n < 0) return;
  int head = (int)((16 - (size_t)g % 16) % 16 / 2);  // a bf16 is aligned to 2 bytes
  if (head > n) head = n;
  int vectors = (n - head) / 8;
  int blocks = n / 4096 + 1;
  if (blocks > 1024) blocks = 1024;
  square_sums<<<blocks, 256, 0, stream>>>(g, n, head, vectors);
  root_of_sums<<<1, 256, 0, stream>>>(norm, blocks);
}
