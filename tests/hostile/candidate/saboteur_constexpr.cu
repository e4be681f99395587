// Makes the compiler count to ten trillion.
#include <cuda_runtime.h>

constexpr long long count() {
  long long n = 0;
  while (n < 10000000000000) ++n;
  return n;
}
constexpr long long kCount = count();

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + (kCount > 0 ? 1.0f : 0.0f);
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
