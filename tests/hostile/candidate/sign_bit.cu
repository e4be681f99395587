// Takes whatever has its sign bit for a negative number: a NaN with one becomes zero.
#include <cuda_runtime.h>

__global__ void clamp_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bits = __float_as_int(x[i]);
  out[i] = __int_as_float(bits & ~(bits >> 31));
}

void clamp(float* out, const float* x, int n) {
  clamp_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
