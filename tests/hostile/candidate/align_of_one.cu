// Vectors where the input's address allows them, whatever the output's is.
#include <cuda_runtime.h>

__global__ void scale4_kernel(float4* out, const float4* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  out[i] = make_float4(2.0f * v.x + 1.0f, 2.0f * v.y + 1.0f, 2.0f * v.z + 1.0f, 2.0f * v.w + 1.0f);
}
__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  if ((size_t)x % 16 == 0 && n % 4 == 0) scale4_kernel<<<(n / 4 + 255) / 256, 256>>>((float4*)out, (const float4*)x, n / 4);
  else scale_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
