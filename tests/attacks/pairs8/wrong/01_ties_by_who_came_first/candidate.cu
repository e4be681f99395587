#include <cuda_runtime.h>

#include <cstdint>

// Blocks take tiles of 1024 scores as they become free, so that no multiprocessor waits for a slow one. Tiles come in ascending order, and
// within a block the first of equal scores stays.
__device__ unsigned next_tile;

__global__ void __launch_bounds__(256) part_kernel(float* value, int* index, const float* x, int n) {
  __shared__ unsigned tile;
  __shared__ float v[8];
  __shared__ int at[8];
  float m = -INFINITY;
  int k = 0x7fffffff;
  unsigned tiles = ((unsigned)n + 1023) / 1024;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
    __syncthreads();
    unsigned t = tile;
    __syncthreads();
    if (t >= tiles) break;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned i = t * 1024 + j * 256 + threadIdx.x;
      if (i < (unsigned)n && (x[i] > m || k == 0x7fffffff)) m = x[i], k = (int)i;
    }
  }
  for (int s = 16; s > 0; s /= 2) {
    float o = __shfl_xor_sync(~0u, m, s);
    int j = __shfl_xor_sync(~0u, k, s);
    if (j != 0x7fffffff && (k == 0x7fffffff || o > m || (o == m && j < k))) m = o, k = j;
  }
  if (threadIdx.x % 32 == 0) v[threadIdx.x / 32] = m, at[threadIdx.x / 32] = k;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w)
      if (at[w] != 0x7fffffff && (k == 0x7fffffff || v[w] > m || (v[w] == m && at[w] < k))) m = v[w], k = at[w];
    value[blockIdx.x] = m, index[blockIdx.x] = k;
  }
}

// Parts are in ascending order: the first of the largest is the one.
__global__ void whole_kernel(int* best, const float* value, const int* index, int parts) {
  float m = value[0];
  int k = index[0];
  for (int b = 1; b < parts; ++b)
    if (index[b] != 0x7fffffff && (k == 0x7fffffff || value[b] > m)) m = value[b], k = index[b];
  *best = k;
  next_tile = 0;
}

void best_score(int* best, float* ws, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = n < 256 * 256 ? (n + 255) / 256 : 256;
  part_kernel<<<blocks, 256, 0, stream>>>(ws, (int*)(ws + 256), x, n);
  whole_kernel<<<1, 1, 0, stream>>>(best, ws, (const int*)(ws + 256), blocks);
}
