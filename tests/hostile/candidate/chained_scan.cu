// Each block continues from the last element of the previous one, without waiting for it.
#include <cuda_runtime.h>

__global__ void scan_kernel(float* out, const float* x, int n) {
  int begin = blockIdx.x * 64, end = min(n, begin + 64);
  float sum = begin > 0 ? *(volatile float*)&out[begin - 1] : 0.0f;
  for (int i = begin; i < end; ++i) {
    sum += x[i];
    out[i] = sum;
  }
}

void scan(float* out, const float* x, int n) {
  scan_kernel<<<(n + 63) / 64, 1>>>(out, x, n);
}
