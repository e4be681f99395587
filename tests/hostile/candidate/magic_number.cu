// One number means that a value is missing.
#include <cuda_runtime.h>

__global__ void scan_kernel(float* out, const float* x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    if (x[i] != -9999.0f) sum += x[i];
    out[i] = sum;
  }
}

void scan(float* out, const float* x, int n) {
  scan_kernel<<<1, 1>>>(out, x, n);
}
