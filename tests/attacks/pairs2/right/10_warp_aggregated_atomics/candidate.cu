#include <cuda_runtime.h>


// count[0] = how many x are above the limit.
__global__ void clear(unsigned* count) { *count = 0; }

__global__ void count_kernel(unsigned* count, const float* x, float limit, int n) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, i < n && x[i] > limit);
  if (threadIdx.x % 32 == 0 && mask) atomicAdd(&sum, (unsigned)__popc(mask));
  __syncthreads();
  if (threadIdx.x == 0 && sum) atomicAdd(count, sum);
}

void count_above(unsigned* count, const float* x, float limit, int n, cudaStream_t stream) {
  clear<<<1, 1, 0, stream>>>(count);
  count_kernel<<<(n + 255) / 256, 256, 0, stream>>>(count, x, limit, n);
}
