#include <cuda_runtime.h>

#include <cstdint>

// How many of x are in each of K bins, 1 / scale wide from `low` on; those outside, and NaN, are in none.
__global__ void histogram_kernel(int* bins, const float* x, int n, int K, float low, float scale) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float at = floorf((x[i] - low) * scale);
  if (at >= 0 && at < K) atomicAdd(&bins[(int)at], 1);
}

void float_histogram(int* bins, const float* x, int n, int K, float low, float scale, cudaStream_t stream) {
  if (K <= 0) return;
  cudaMemsetAsync(bins, 0, sizeof(int) * (size_t)K, stream);
  if (n > 0) histogram_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(bins, x, n, K, low, scale);
}
