#include <cuda_runtime.h>

__global__ void gelu_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  out[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

void gelu(float* out, const float* x, int n) { gelu_kernel<<<(n + 255) / 256, 256>>>(out, x, n); }
