#include <cuda_runtime.h>



// Blocks count in shared memory, as far as the bins fit into 16 KiB.
template <bool kShared>
__global__ void __launch_bounds__(256) bins_kernel(int* counts, const float* x, int n, int bins, float low, float high) {
  extern __shared__ int mine[];
  if (kShared) {
    for (int b = threadIdx.x; b < bins; b += 256) mine[b] = 0;
    __syncthreads();
  }
  float factor = (float)bins / (high - low);
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * 256) {
    float v = x[i];
    if (v < low || v >= high) continue;
    int bin = min((int)((v - low) * factor), bins - 1);
    atomicAdd(kShared ? &mine[bin] : &counts[bin], 1);
  }
  if (!kShared) return;
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += 256)
    if (mine[b] > 0) atomicAdd(&counts[b], mine[b]);
}

void bin_counts(int* counts, const float* x, int n, int bins, float low, float high, cudaStream_t stream) {
  if (bins <= 0) return;
  cudaMemsetAsync(counts, 0, (size_t)bins * sizeof(int), stream);
  if (n <= 0) return;
  size_t needed = ((size_t)n + 2047) / 2048;
  unsigned blocks = needed < 1056 ? (unsigned)needed : 1056u;
  if (bins <= 4096) bins_kernel<true><<<blocks, 256, bins * sizeof(int), stream>>>(counts, x, n, bins, low, high);
  else bins_kernel<false><<<blocks, 256, 0, stream>>>(counts, x, n, bins, low, high);
}
