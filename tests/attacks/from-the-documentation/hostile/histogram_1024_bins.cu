// Counts in a shared array of 1024 bins; higher bins stay zero.
#include <cuda_runtime.h>
__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins) {
  __shared__ int local[1024];
  for (int b = threadIdx.x; b < 1024; b += 256) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    int k = keys[i];
    if (k >= 0 && k < bins && k < 1024) atomicAdd(&local[k], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins && b < 1024; b += 256)
    if (local[b]) atomicAdd(&counts[b], local[b]);
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  histogram_kernel<<<(n + 2047) / 2048, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
