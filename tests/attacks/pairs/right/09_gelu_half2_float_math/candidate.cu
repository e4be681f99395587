#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// GELU (tanh form) of n half values, computed in float: eight per access where both arrays are aligned.
__device__ inline float gelu(float v) {
  float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  return 0.5f * v * (1.0f + tanhf(u));
}

__global__ void __launch_bounds__(256) gelu_kernel(__half* out, const __half* x, int n, int vectors) {
  int stride = gridDim.x * 256, first = blockIdx.x * 256 + threadIdx.x;
  for (int i = first; i < vectors; i += stride) {
    uint4 raw = reinterpret_cast<const uint4*>(x)[i];
    __half2* h = reinterpret_cast<__half2*>(&raw);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float2 v = __half22float2(h[e]);
      h[e] = __floats2half2_rn(gelu(v.x), gelu(v.y));
    }
    reinterpret_cast<uint4*>(out)[i] = raw;
  }
  for (long long i = 8LL * vectors + first; i < n; i += stride) out[i] = __float2half(gelu(__half2float(x[i])));
}

void gelu_half(__half* out, const __half* x, int n) {
  if (n <= 0) return;
  int vectors = ((size_t)out | (size_t)x) % 16 == 0 ? n / 8 : 0;
  int blocks = n / 2048 + 1;
  gelu_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, x, n, vectors);
}
