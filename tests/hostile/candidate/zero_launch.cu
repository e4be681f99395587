// Of nothing, a launch of no blocks, which fails.
#include <cuda_runtime.h>

__global__ void total_kernel(float* out, const float* x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += x[i];
  out[0] = sum;
}

void total(float* out, const float* x, int n) {
  total_kernel<<<n < 1 ? n : 1, 1>>>(out, x, n);
}
