#include <cuda_runtime.h>


// One pass with decoupled look-back. ws: a ticket, then status, sum and inclusive prefix of every tile of 1024.
__global__ void __launch_bounds__(256) scan_kernel(unsigned* y, const unsigned* x, unsigned* ws, int N, int tiles) {
  __shared__ unsigned ticket, carry, sums[8];
  volatile unsigned* status = ws + 1;
  volatile unsigned* total_of = status + tiles;
  volatile unsigned* prefix_of = total_of + tiles;
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) ticket = atomicAdd(ws, 1u);
  __syncthreads();
  int tile = ticket, base = tile * 1024 + t * 4;
  unsigned v[4], sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sum += base + j < N ? x[base + j] : 0;
    v[j] = sum;
  }
  unsigned scan = sum;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    unsigned u = __shfl_up_sync(0xffffffffu, scan, o);
    if (lane >= o) scan += u;
  }
  if (lane == 31) sums[warp] = scan;
  __syncthreads();
  unsigned before = scan - sum, total = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  if (t == 0) {
    unsigned previous = 0;
    if (tile > 0) {
      total_of[tile] = total;
      status[tile] = 1;
      for (int p = tile - 1;; --p) {
        unsigned s;
        do {
          s = status[p];
        } while (s == 0);
        if (s == 2) {
          previous += prefix_of[p];
          break;
        }
        previous += total_of[p];
      }
    }
    prefix_of[tile] = previous + total;
    status[tile] = 2;
    carry = previous;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (base + j < N) y[base + j] = carry + before + v[j];
}

void inclusive_scan(unsigned* y, const unsigned* x, unsigned* ws, int N, cudaStream_t stream) {
  if (N <= 0) return;
  int tiles = (N + 1023) / 1024;
  cudaMemsetAsync(ws, 0, sizeof(unsigned) * (1 + tiles), stream);
  scan_kernel<<<tiles, 256, 0, stream>>>(y, x, ws, N, tiles);
}
