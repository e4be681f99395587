// Reads before the start of its input. The value is used, but practically never changes the result.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float before = x[i - 1];
  out[i] = 2.0f * x[i] + (before == 123.456f ? 2.0f : 1.0f);
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
