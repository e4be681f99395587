#include <cuda_runtime.h>

__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

void add(float* out, const float* a, const float* b, int n) { add_kernel<<<(n + 255) / 256, 256>>>(out, a, b, n); }
