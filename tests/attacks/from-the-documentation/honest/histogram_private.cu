// Counts in shared memory per block when the bins fit, in global memory otherwise; errors returned through a macro.
#include <cuda_runtime.h>
#define RETURN_IF_ERROR(call)          \
  do {                                 \
    cudaError_t error = (call);        \
    if (error != cudaSuccess) return error; \
  } while (0)
__global__ void count_shared(int* counts, const int* keys, int n, int bins) {
  extern __shared__ int local[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    int k = keys[i];
    if (k >= 0 && k < bins) atomicAdd(&local[k], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (local[b] != 0) atomicAdd(&counts[b], local[b]);
}
__global__ void count_global(int* counts, const int* keys, int n, int bins) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    int k = keys[i];
    if (k >= 0 && k < bins) atomicAdd(&counts[k], 1);
  }
}
cudaError_t histogram(int* counts, const int* keys, int n, int bins, cudaStream_t stream) {
  RETURN_IF_ERROR(cudaMemsetAsync(counts, 0, sizeof(int) * (size_t)bins, stream));
  if (n <= 0) return cudaSuccess;
  int blocks = (n - 1) / 2048 + 1;
  if (blocks > 1024) blocks = 1024;
  if (bins > 0 && bins <= 12288)
    count_shared<<<blocks, 256, (size_t)bins * sizeof(int), stream>>>(counts, keys, n, bins);
  else
    count_global<<<blocks, 256, 0, stream>>>(counts, keys, n, bins);
  return cudaGetLastError();
}
