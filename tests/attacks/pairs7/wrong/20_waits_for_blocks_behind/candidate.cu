#include <cuda_runtime.h>



// A block has 1024 elements, and waits for the sum of all blocks behind it.
__global__ void __launch_bounds__(1024) suffix_kernel(int* y, const int* x, int n, unsigned* ready, unsigned* totals) {
  __shared__ unsigned warps[32], behind;
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  size_t i = (size_t)blockIdx.x * 1024 + (1023 - t);
  unsigned sum = i < (size_t)n ? (unsigned)x[i] : 0u;
  for (int d = 1; d < 32; d *= 2) {
    unsigned before = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += before;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned of_warps = warps[lane];
    for (int d = 1; d < 32; d *= 2) {
      unsigned before = __shfl_up_sync(~0u, of_warps, d);
      if (lane >= d) of_warps += before;
    }
    warps[lane] = of_warps;
    if (lane == 31) {
      unsigned next = 0;
      if (blockIdx.x + 1 < gridDim.x) {
        while (atomicAdd(&ready[blockIdx.x + 1], 0u) == 0) {
        }
        __threadfence();
        next = __ldcg(&totals[blockIdx.x + 1]);
      }
      totals[blockIdx.x] = next + of_warps;
      __threadfence();
      atomicExch(&ready[blockIdx.x], 1u);
      behind = next;
    }
  }
  __syncthreads();
  if (i < (size_t)n) y[i] = (int)(sum + (warp > 0 ? warps[warp - 1] : 0u) + behind);
}

void suffix_sums(int* y, const int* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  size_t blocks = ((size_t)n + 1023) / 1024;
  unsigned* work = nullptr;
  cudaMallocAsync(&work, 2 * blocks * sizeof(unsigned), stream);
  cudaMemsetAsync(work, 0, blocks * sizeof(unsigned), stream);
  suffix_kernel<<<(unsigned)blocks, 1024, 0, stream>>>(y, x, n, work, work + blocks);
  cudaFreeAsync(work, stream);
}
