// A grid-stride loop with fewer blocks; the same zeros, NaNs and infinities.
#include <cuda_runtime.h>

__global__ void safe_root_kernel(float* __restrict__ out, const float* __restrict__ x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    out[i] = v == 0.0f ? 0.0f : v / sqrtf(v);
  }
}

void safe_root(float* out, const float* x, int n) {
  int blocks = (n + 511) / 512;
  safe_root_kernel<<<blocks < 4 ? blocks : 4, 128>>>(out, x, n);
}
