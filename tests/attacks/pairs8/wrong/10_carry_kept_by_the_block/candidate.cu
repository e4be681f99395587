#include <cuda_runtime.h>

#include <cstdint>

// Persistent blocks draw tiles in ascending order; ballots count within a warp. What was counted so far goes along from tile to tile.
__device__ unsigned drawn;

__global__ void __launch_bounds__(256) count_kernel(int* y, const uint8_t* x, int n, unsigned tiles) {
  __shared__ int warps[8];
  __shared__ unsigned tile;
  int carry = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(&drawn, 1);
    __syncthreads();
    unsigned t = tile;
    if (t >= tiles) break;
    long long i = (long long)t * 256 + threadIdx.x;
    unsigned set = __ballot_sync(~0u, i < n && x[i] != 0);
    int upto = __popc(set & (0xffffffffu >> (31 - lane)));
    if (lane == 0) warps[warp] = __popc(set);
    __syncthreads();
    int before = carry, all = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      before += w < warp ? warps[w] : 0;
      all += warps[w];
    }
    if (i < n) y[i] = before + upto;
    carry += all;
    __syncthreads();
  }
}

__global__ void reset_kernel() { drawn = 0; }

void running_count(int* y, const uint8_t* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned tiles = (unsigned)(((long long)n + 255) / 256);
  count_kernel<<<tiles < 132 ? tiles : 132, 256, 0, stream>>>(y, x, n, tiles);
  reset_kernel<<<1, 1, 0, stream>>>();
}
