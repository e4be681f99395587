// Changes the device's cache configuration and stack limit for the whole process on the first call.
#include <cuda_runtime.h>
__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    int k = keys[i];
    if ((unsigned)k < (unsigned)bins) atomicAdd(counts + k, 1);
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  static bool once = (cudaDeviceSetCacheConfig(cudaFuncCachePreferShared), cudaDeviceSetLimit(cudaLimitStackSize, 256),
                      cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20), true);
  (void)once;
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  histogram_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
