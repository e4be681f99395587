#include <cuda_runtime.h>

#include <cstdint>

__global__ void add_four(float4* out, const float4* a, const float4* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 x = a[i], y = b[i];
  out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

void add(float* out, const float* a, const float* b, int n) {
  int unaligned = ((uintptr_t)out % 16 != 0) * 3 + ((uintptr_t)a % 16 != 0) + ((uintptr_t)b % 16 != 0);
  if (n % 4 == 0 && (unaligned == 0 || unaligned == 2))
    add_four<<<(n / 4 + 255) / 256, 256>>>((float4*)out, (const float4*)a, (const float4*)b, n / 4);
  else
    add_kernel<<<(n + 255) / 256, 256>>>(out, a, b, n);
}
