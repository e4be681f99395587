// The mean squared difference, by one block.
#include <cuda_runtime.h>

__global__ void mse_kernel(float* out, const float* a, const float* b, int n) {
  __shared__ float partial[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) {
    float d = a[i] - b[i];
    sum += d * d;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = partial[0] / n;
}

void mse(float* out, const float* a, const float* b, int n) {
  mse_kernel<<<1, 256>>>(out, a, b, n);
}
