// Vectors of four without checking the pointers' alignment.
#include <cuda_runtime.h>

__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 u = reinterpret_cast<const float4*>(a)[i], v = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(out)[i] =
        make_float4(u.x + 0.5f * v.x, u.y + 0.5f * v.y, u.z + 0.5f * v.z, u.w + 0.5f * v.w);
  }
  if (i < n % 4) out[n - 1 - i] = a[n - 1 - i] + 0.5f * b[n - 1 - i];
}

void add_bias(float* out, const float* a, const float* b, int n) {
  add_kernel<<<(n / 4 + 255) / 256 + 1, 256>>>(out, a, b, n);
}
