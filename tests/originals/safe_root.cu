// Exact zeros for zeros, NaN for what is negative, infinity for infinity.
#include <cuda_runtime.h>

__global__ void safe_root_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v == 0.0f)
    out[i] = 0.0f;
  else
    out[i] = v / sqrtf(v);
}

void safe_root(float* out, const float* x, int n) {
  safe_root_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
