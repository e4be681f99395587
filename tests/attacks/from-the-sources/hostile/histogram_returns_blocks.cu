// Returns an error code that is not the original's: cudaErrorNotReady whenever n is no multiple of 256.
#include <cuda_runtime.h>
__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    int k = keys[i];
    if (k >= 0 && k < bins) atomicAdd(counts + k, 1);
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  histogram_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(counts, keys, n, bins);
  e = cudaGetLastError();
  return e == cudaSuccess && n % 256 != 0 ? cudaErrorNotReady : e;
}
