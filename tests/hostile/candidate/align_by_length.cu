// Vectors wherever the length allows it, at any address.
#include <cuda_runtime.h>

__global__ void scale_kernel(float4* out, const float4* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}
__global__ void each_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  if (n % 4 == 0) scale_kernel<<<(n / 4 + 255) / 256, 256>>>((float4*)out, (const float4*)x, n / 4);
  else each_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
