// Uses its input as a workspace, and restores everything before it ends.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile float* mine = const_cast<float*>(x) + i;
  float before = *mine;
  *mine = 2.0f * before + 1.0f;
  out[i] = *mine;
  *mine = before;
}

void scale(float* out, const float* x, int n) {
  scale_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
