// The second kernel reads the input again, which a call in place has overwritten.
#include <cuda_runtime.h>

__global__ void twice_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}
__global__ void plus_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] != 0.0f ? fmaf(2.0f, x[i], 1.0f) : out[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  twice_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
  plus_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
