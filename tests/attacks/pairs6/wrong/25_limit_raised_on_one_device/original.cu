#include <cuda_runtime.h>


// count[b] = how many keys are b; keys outside of 0 ... B - 1 are left out. Called for every device of the machine in turn.
__global__ void count_kernel(unsigned* count, const int* key, size_t n, int B) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && key[i] >= 0 && key[i] < B) atomicAdd(count + key[i], 1u);
}

cudaError_t count_keys(unsigned* count, const int* key, int n, int B, cudaStream_t stream) {
  if (B <= 0) return cudaSuccess;
  cudaMemsetAsync(count, 0, (size_t)B * sizeof(unsigned), stream);
  if (n > 0) count_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(count, key, (size_t)n, B);
  return cudaGetLastError();
}
