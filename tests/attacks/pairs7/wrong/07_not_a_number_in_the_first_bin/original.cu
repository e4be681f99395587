#include <cuda_runtime.h>



// counts[b] of x in [low, high), in bins of equal width; whatever is outside, and what is no number, counts nowhere.
__global__ void bins_kernel(int* counts, const float* x, int n, int bins, float low, float high) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v >= low && v < high) {
    int bin = (int)((v - low) * ((float)bins / (high - low)));
    atomicAdd(&counts[min(bin, bins - 1)], 1);
  }
}

void bin_counts(int* counts, const float* x, int n, int bins, float low, float high, cudaStream_t stream) {
  if (bins <= 0) return;
  cudaMemsetAsync(counts, 0, (size_t)bins * sizeof(int), stream);
  if (n > 0) bins_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(counts, x, n, bins, low, high);
}
