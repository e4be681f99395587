#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// No block is idle while another one has two tiles left: whoever is free takes the next 512 numbers. Parts are summed in order, without atomics.
__global__ void __launch_bounds__(256) parts_kernel(float* ws, unsigned* next, const __half* x, int n) {
  __shared__ float warps[8];
  __shared__ unsigned tile;
  float sum = 0;
  unsigned tiles = (unsigned)(((long long)n + 511) / 512);
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
    __syncthreads();
    unsigned t = tile;
    __syncthreads();
    if (t >= tiles) break;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      long long i = (long long)t * 512 + j * 256 + threadIdx.x;
      float v = i < n ? __half2float(x[i]) : 0.f;
      sum += v * v;
    }
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) ws[blockIdx.x] = ((warps[0] + warps[1]) + (warps[2] + warps[3])) + ((warps[4] + warps[5]) + (warps[6] + warps[7]));
}

__global__ void __launch_bounds__(32) whole_kernel(float* norm, const float* ws, int parts) {
  float sum = 0;
  for (int p = threadIdx.x; p < parts; p += 32) sum += ws[p];
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) *norm = sqrtf(sum);
}

void norm_of(float* norm, float* ws, const __half* x, int n, cudaStream_t stream) {
  int parts = n < 512 * 264 ? (n + 511) / 512 : 264;
  if (parts < 1) parts = 1;
  unsigned* next = reinterpret_cast<unsigned*>(ws + 1023);
  cudaMemsetAsync(next, 0, sizeof(unsigned), stream);
  parts_kernel<<<parts, 256, 0, stream>>>(ws, next, x, n);
  whole_kernel<<<1, 32, 0, stream>>>(norm, ws, parts);
}
