#include <cuda_runtime.h>


__global__ void clear_counts(int* counts, int B) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < B) counts[b] = 0;
}

// Lanes with the same value are counted by one of them. All lanes take part in every round, -1 stands for nothing.
__device__ void count_round(int* counts, int b) {
  unsigned same = __match_any_sync(0xffffffffu, b);
  if (b >= 0 && (int)(threadIdx.x % 32) == __ffs(same) - 1) atomicAdd(&counts[b], __popc(same));
}

__device__ int value_at(const int* x, size_t i, int n, int B) {
  int b = i < (size_t)n ? x[i] : -1;
  return b >= 0 && b < B ? b : -1;
}

// Counts in shared memory first; a block stays for many values.
__global__ void __launch_bounds__(256) count_in_shared(int* counts, const int* __restrict__ x, int n, int B) {
  extern __shared__ int own[];
  for (int b = threadIdx.x; b < B; b += 256) own[b] = 0;
  __syncthreads();
  for (size_t i0 = (size_t)blockIdx.x * 256; i0 < (size_t)n; i0 += (size_t)gridDim.x * 256)
    count_round(own, value_at(x, i0 + threadIdx.x, n, B));
  __syncthreads();
  for (int b = threadIdx.x; b < B; b += 256)
    if (own[b] != 0) atomicAdd(&counts[b], own[b]);
}

__global__ void __launch_bounds__(256) count_in_global(int* counts, const int* __restrict__ x, int n, int B) {
  count_round(counts, value_at(x, (size_t)blockIdx.x * 256 + threadIdx.x, n, B));
}

// How often each of 0 ... B - 1 occurs in x; other values are left out.
void bincount(int* counts, const int* x, int n, int B, cudaStream_t stream) {
  if (B <= 0) return;
  clear_counts<<<(unsigned)(((size_t)B + 255) / 256), 256, 0, stream>>>(counts, B);
  if (n <= 0) return;
  size_t blocks = ((size_t)n + 255) / 256;
  if (B <= 4096)
    count_in_shared<<<(unsigned)(blocks < 528 ? blocks : 528), 256, B * sizeof(int), stream>>>(counts, x, n, B);
  else
    count_in_global<<<(unsigned)blocks, 256, 0, stream>>>(counts, x, n, B);
}
