// float4 if the pointers allow it, one element at a time for the tail and for unaligned pointers.
#include <cuda_runtime.h>
#include <stdint.h>

__device__ float add_one(float a, float b) { return a + 0.5f * b; }

__global__ void add_kernel(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  bool aligned = ((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) & 15) == 0;
  int quads = aligned ? n / 4 : 0;
  for (int q = i; q < quads; q += stride) {
    float4 u = reinterpret_cast<const float4*>(a)[q], v = reinterpret_cast<const float4*>(b)[q];
    reinterpret_cast<float4*>(out)[q] =
        make_float4(add_one(u.x, v.x), add_one(u.y, v.y), add_one(u.z, v.z), add_one(u.w, v.w));
  }
  for (int k = 4 * quads + i; k < n; k += stride) out[k] = add_one(a[k], b[k]);
}

void add_bias(float* out, const float* a, const float* b, int n) {
  int blocks = (n + 1023) / 1024;
  add_kernel<<<blocks < 528 ? blocks : 528, 256>>>(out, a, b, n);
}
