// Another object of the project may define it: the linker prefers that one.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}
__attribute__((weak)) int Blocks(int n) { return (n + 255) / 256; }

void scale(float* out, const float* x, int n) {
  scale_kernel<<<Blocks(n), 256>>>(out, x, n);
}
