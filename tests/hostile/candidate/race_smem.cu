// The barriers in the loop cost time; without them it is correct most of the time.
#include <cuda_runtime.h>

__global__ void block_sum_kernel(float* out, const float* x, int n) {
  __shared__ float partial[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

void block_sum(float* out, const float* x, int n) {
  block_sum_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
