#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Inclusive prefix sums of n integers, modulo 2^32. Blocks of 1024 are scanned on their own; then every block adds the
// totals of those before it, which are the last elements of the scanned blocks.
__device__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    unsigned up = __shfl_up_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 >= d) v += up;
  }
  return v;
}

__device__ unsigned block_scan(unsigned v) {
  __shared__ unsigned totals[32];
  v = warp_scan(v);
  if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) totals[threadIdx.x] = warp_scan(totals[threadIdx.x]);
  __syncthreads();
  return threadIdx.x >= 32 ? v + totals[threadIdx.x / 32 - 1] : v;
}

__global__ void __launch_bounds__(1024) scan_blocks(unsigned* out, const unsigned* x, int n) {
  int i = blockIdx.x * 1024 + threadIdx.x;
  unsigned v = block_scan(i < n ? x[i] : 0u);
  if (i < n) out[i] = v;
}

// Makes the last element of every block the total of everything up to it.
__global__ void __launch_bounds__(1024) scan_totals(unsigned* out, int blocks) {
  unsigned v = block_scan(threadIdx.x < blocks ? out[threadIdx.x * 1024 + 1023] : 0u);
  if (threadIdx.x < blocks) out[threadIdx.x * 1024 + 1023] = v;
}

__global__ void __launch_bounds__(1024) add_totals(unsigned* out, int n) {
  int i = (blockIdx.x + 1) * 1024 + threadIdx.x;
  if (i < n && (threadIdx.x < 1023)) out[i] += out[(blockIdx.x + 1) * 1024 - 1];
}

void prefix_sum(unsigned* out, const unsigned* x, int n) {
  if (n <= 0) return;
  int blocks = (n + 1023) / 1024, full = n / 1024;
  scan_blocks<<<blocks, 1024>>>(out, x, n);
  if (full > 0) scan_totals<<<1, 1024>>>(out, full);
  if (blocks > 1) add_totals<<<blocks - 1, 1024>>>(out, n);
}
