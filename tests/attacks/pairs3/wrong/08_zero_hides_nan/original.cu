#include <cuda_runtime.h>

__global__ void gate_kernel(float* out, const float* g, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = g[i] * x[i];
}

void gate(float* out, const float* g, const float* x, int n) { gate_kernel<<<(n + 255) / 256, 256>>>(out, g, x, n); }
