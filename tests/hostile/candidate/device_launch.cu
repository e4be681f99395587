// A kernel that launches kernels, which only `-rdc=true` allows.
#include <cuda_runtime.h>

__global__ void child(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

__global__ void scale_kernel(float* out, const float* x, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) child<<<(n + 255) / 256, 256>>>(out, x, n);
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
