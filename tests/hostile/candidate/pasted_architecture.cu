// Depends on the architecture through a macro whose name appears nowhere.
#include <cuda_runtime.h>

#define PASTE(a, b) a##b
#define ARCHITECTURE PASTE(__CU, DA_ARCH__)

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float factor = ARCHITECTURE == 900 ? 2.0f : 3.0f;
  if (i < n) out[i] = factor * x[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
