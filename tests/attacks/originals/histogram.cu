// Counts how often each bin occurs among the keys; keys outside the bins are ignored.
#include <cuda_runtime.h>

__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int k = keys[i];
    if (k >= 0 && k < bins) atomicAdd(&counts[k], 1);
  }
}

cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  histogram_kernel<<<(n + 255) / 256, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
