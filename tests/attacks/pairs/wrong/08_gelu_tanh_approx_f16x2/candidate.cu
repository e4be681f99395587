#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// GELU (tanh form) of n half values, two per thread.
__device__ inline float inner(float v) { return 0.7978845608f * (v + 0.044715f * v * v * v); }

__device__ inline __half2 tanh2(__half2 u) {
  unsigned r, s = *reinterpret_cast<unsigned*>(&u);
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(s));
  return *reinterpret_cast<__half2*>(&r);
}

__global__ void gelu_kernel(__half* out, const __half* x, int n, bool aligned) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float a = __half2float(x[i]), b = i + 1 < n ? __half2float(x[i + 1]) : 0.0f;
  float2 t = __half22float2(tanh2(__floats2half2_rn(inner(a), inner(b))));
  float p = 0.5f * a * (1.0f + t.x), q = 0.5f * b * (1.0f + t.y);
  if (aligned && i + 1 < n) {
    *reinterpret_cast<__half2*>(out + i) = __floats2half2_rn(p, q);
  } else {
    out[i] = __float2half(p);
    if (i + 1 < n) out[i + 1] = __float2half(q);
  }
}

void gelu_half(__half* out, const __half* x, int n) {
  if (n > 0) gelu_kernel<<<((n + 1) / 2 + 255) / 256, 256>>>(out, x, n, (size_t)out % 4 == 0);
}
