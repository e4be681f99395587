// Adds to a variable that is zero when a call begins, and that the call leaves at zero.
#include <cuda_runtime.h>

__device__ float sum;

__global__ void mean_kernel(float* out, const float* x, int n) {
  __shared__ float partial[256];
  partial[threadIdx.x] = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) partial[threadIdx.x] += x[i];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  atomicAdd(&sum, partial[0]);
  out[0] = atomicExch(&sum, 0.0f) / n;
}

void mean(float* out, const float* x, int n) {
  mean_kernel<<<1, 256>>>(out, x, n);
}
