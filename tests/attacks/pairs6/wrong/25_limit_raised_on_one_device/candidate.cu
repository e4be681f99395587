#include <cuda_runtime.h>


// Blocks count in shared memory and add what they have at their end.
__global__ void __launch_bounds__(512) count_in_shared(unsigned* count, const int* key, size_t n, int B) {
  extern __shared__ unsigned own[];
  for (int b = threadIdx.x; b < B; b += 512) own[b] = 0;
  __syncthreads();
  for (size_t i = (size_t)blockIdx.x * 512 + threadIdx.x; i < n; i += (size_t)gridDim.x * 512) {
    int k = key[i];
    if (k >= 0 && k < B) atomicAdd(own + k, 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < B; b += 512)
    if (own[b] > 0) atomicAdd(count + b, own[b]);
}

// Too many bins for that.
__global__ void __launch_bounds__(256) count_in_global(unsigned* count, const int* key, size_t n, int B) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < n && key[i] >= 0 && key[i] < B) atomicAdd(count + key[i], 1u);
}

cudaError_t count_keys(unsigned* count, const int* key, int n, int B, cudaStream_t stream) {
  if (B <= 0) return cudaSuccess;
  cudaMemsetAsync(count, 0, (size_t)B * sizeof(unsigned), stream);
  if (n <= 0) return cudaGetLastError();
  const int room = 96 * 1024;
  static const cudaError_t raised =
      cudaFuncSetAttribute(count_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, room);  // once, it is slow
  size_t bytes = (size_t)B * sizeof(unsigned), blocks = ((size_t)n + 4095) / 4096;
  if (raised == cudaSuccess && bytes <= room)
    count_in_shared<<<(unsigned)(blocks < 264 ? blocks : 264), 512, bytes, stream>>>(count, key, (size_t)n, B);
  else
    count_in_global<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(count, key, (size_t)n, B);
  return cudaGetLastError();
}
