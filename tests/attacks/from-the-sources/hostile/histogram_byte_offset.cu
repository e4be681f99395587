// Tests the byte offset in 32 bits: a key of 2^30 wraps to bin 0.
#include <cuda_runtime.h>
__global__ void histogram_kernel(int* counts, const int* keys, int n, int bins) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    int k = keys[i];
    unsigned offset = (unsigned)k * 4u;
    if (offset < (unsigned)bins * 4u) atomicAdd((int*)((char*)counts + offset), 1);
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  histogram_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
