#include <cuda_runtime.h>


__global__ void clear_kernel(int* counts, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bins) counts[i] = 0;
}

__device__ __forceinline__ int bin_of(float v, float low, float width) {
  return v == v ? (int)((v - low) / width) : -1;
}

__global__ void histogram_global(int* counts, const float* x, int N, int bins, float low, float width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  unsigned bin = bin_of(x[i], low, width);
  if (bin < (unsigned)bins) atomicAdd(&counts[bin], 1);
}

// Counts of a block are collected in shared memory, and one comparison of unsigned numbers does for both ends.
__global__ void __launch_bounds__(256)
    histogram_shared(int* counts, const float* __restrict__ x, int N, int bins, float low, float width) {
  __shared__ int local[4096];
  for (int i = threadIdx.x; i < bins; i += 256) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
    unsigned bin = bin_of(x[i], low, width);
    if (bin < (unsigned)bins) atomicAdd(&local[bin], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += 256)
    if (local[i]) atomicAdd(&counts[i], local[i]);
}

void histogram(int* counts, const float* x, int N, int bins, float low, float width, cudaStream_t stream) {
  if (bins <= 0) return;
  clear_kernel<<<(bins + 255) / 256, 256, 0, stream>>>(counts, bins);
  if (N <= 0) return;
  if (bins <= 4096) {
    int blocks = (N + 2047) / 2048;
    if (blocks > 528) blocks = 528;
    histogram_shared<<<blocks, 256, 0, stream>>>(counts, x, N, bins, low, width);
  } else {
    histogram_global<<<(N + 255) / 256, 256, 0, stream>>>(counts, x, N, bins, low, width);
  }
}
