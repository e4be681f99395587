// Looks at the address of one input only.
#include <cuda_runtime.h>

__global__ void add4_kernel(float4* out, const float4* a, const float4* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = a[i], w = b[i];
  out[i] = make_float4(v.x + 0.5f * w.x, v.y + 0.5f * w.y, v.z + 0.5f * w.z, v.w + 0.5f * w.w);
}
__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + 0.5f * b[i];
}

void add_bias(float* out, const float* a, const float* b, int n) {
  const int vectors = (size_t)a % 16 == 0 ? n / 4 : 0, rest = n - 4 * vectors;
  if (vectors > 0) add4_kernel<<<(vectors + 255) / 256, 256>>>((float4*)out, (const float4*)a, (const float4*)b, vectors);
  if (rest > 0) add_kernel<<<(rest + 255) / 256, 256>>>(out + 4 * vectors, a + 4 * vectors, b + 4 * vectors, rest);
}
