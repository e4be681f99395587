// A grid of a fixed size strides over the elements in 32 bits: near the largest length the next index is negative.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2.0f * x[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  int blocks = (n - 1) / 256 + 1;
  scale_kernel<<<blocks < 4096 ? blocks : 4096, 256>>>(out, x, n);
}
