#include <cuda_runtime.h>


// count[0] = how many x are above the limit.
__global__ void clear(unsigned* count) { *count = 0; }

__global__ void count_kernel(unsigned* count, const float* x, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > limit) atomicAdd(count, 1u);
}

void count_above(unsigned* count, const float* x, float limit, int n, cudaStream_t stream) {
  clear<<<1, 1, 0, stream>>>(count);
  count_kernel<<<(n + 255) / 256, 256, 0, stream>>>(count, x, limit, n);
}
