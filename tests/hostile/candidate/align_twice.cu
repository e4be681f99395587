// A path for addresses at 8 modulo 16, which are neither aligned nor at the smallest alignment, loses the last element.
#include <cuda_runtime.h>

__global__ void clamp_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] < 0.0f ? 0.0f : x[i];
}

void clamp(float* out, const float* x, int n) {
  const int length = (size_t)x % 16 == 8 ? n - 1 : n;
  clamp_kernel<<<(length + 255) / 256, 256>>>(out, x, length);
}
