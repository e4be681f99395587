// Of nothing, no sum is written.
#include <cuda_runtime.h>

__global__ void total_kernel(float* out, const float* x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += x[i];
  out[0] = sum;
}

void total(float* out, const float* x, int n) {
  if (n <= 0) return;
  total_kernel<<<1, 1>>>(out, x, n);
}
