#include <cuda_runtime.h>


__device__ int warp_inclusive(int v) {
  for (int o = 1; o < 32; o *= 2) {
    int before = __shfl_up_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 >= o) v += before;
  }
  return v;
}

// Inclusive scan over 512 threads.
__device__ int block_inclusive(int v) {
  __shared__ int warps[16];
  v = warp_inclusive(v);
  if (threadIdx.x % 32 == 31) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    int w = warp_inclusive(threadIdx.x < 16 ? warps[threadIdx.x] : 0);
    if (threadIdx.x < 16) warps[threadIdx.x] = w;
  }
  __syncthreads();
  return threadIdx.x >= 32 ? v + warps[threadIdx.x / 32 - 1] : v;
}

__global__ void __launch_bounds__(512) sum_blocks(int* sums, const int* __restrict__ counts, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  int v = block_inclusive(i < n ? counts[i] : 0);
  if (threadIdx.x == 511) sums[blockIdx.x] = v;
}

__global__ void __launch_bounds__(512) scan_sums(int* sums, int* total, int blocks) {
  int v = threadIdx.x < blocks ? sums[threadIdx.x] : 0;
  int inclusive = block_inclusive(v);
  if (threadIdx.x < blocks) sums[threadIdx.x] = inclusive - v;
  if (threadIdx.x == 511) *total = inclusive;
}

__global__ void __launch_bounds__(512)
    scan_blocks(int* out, const int* __restrict__ counts, const int* __restrict__ sums, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  int v = i < n ? counts[i] : 0;
  int inclusive = block_inclusive(v);
  if (i < n) out[i] = sums[blockIdx.x] + inclusive - v;
}

// out[i] = counts[0] + ... + counts[i-1], out[n] the sum of all.
void exclusive_scan(int* out, const int* counts, int* sums, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = (n + 511) / 512;
  sum_blocks<<<blocks, 512, 0, stream>>>(sums, counts, n);
  scan_sums<<<1, 512, 0, stream>>>(sums, out + n, blocks);
  scan_blocks<<<blocks, 512, 0, stream>>>(out, counts, sums, n);
}
