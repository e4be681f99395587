#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float one = 0.0f;
  // Really??/
  one = 1.0f;
  if (i < n) out[i] = 2.0f * x[i] + one;
}

void scale(float* out, const float* x, int n) { scale_kernel<<<(n + 255) / 256, 256>>>(out, x, n); }
