// Aggregates equal keys of a warp with __match_any_sync before one atomic per key.
#include <cuda_runtime.h>
__global__ void count(int* counts, const int* keys, int n, int bins) {
  long long stride = (long long)gridDim.x * blockDim.x;
  int lane = threadIdx.x & 31;
  for (long long i0 = (long long)blockIdx.x * blockDim.x + (threadIdx.x & ~31); i0 < n; i0 += stride) {
    int k = i0 + lane < n ? keys[i0 + lane] : -1;
    unsigned same = __match_any_sync(0xffffffffu, k);
    if (k >= 0 && k < bins && __ffs(same) - 1 == lane) atomicAdd(counts + k, __popc(same));
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream);
  if (e != cudaSuccess || n <= 0) return e;
  int blocks = (n - 1) / 1024 + 1;
  count<<<blocks < 2048 ? blocks : 2048, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
