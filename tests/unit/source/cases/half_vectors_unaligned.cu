// entry: gelu
// buffer: out f16 1024
// buffer: in f16 1024 offset=2
// scalar: n i64 1024
// expect: launch gelu_half(out, in, 1024L) 4x1x1 256x1x1
#include <cuda_fp16.h>
#include <cstdint>
__device__ __forceinline__ float act(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }
__global__ void gelu_half2(__half2* __restrict__ out, const __half2* __restrict__ in, int64_t n2) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n2) {
    float2 v = __half22float2(in[i]);
    out[i] = __floats2half2_rn(act(v.x), act(v.y));
  }
}
__global__ void gelu_half(half* out, const half* in, int64_t n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(act(__half2float(in[i])));
}
void gelu(half* out, const half* in, int64_t n) {
  const bool aligned = reinterpret_cast<uintptr_t>(out) % 4 == 0 && reinterpret_cast<uintptr_t>(in) % 4 == 0;
  if (aligned && n % 2 == 0) {
    gelu_half2<<<(n / 2 + 255) / 256, 256>>>(reinterpret_cast<__half2*>(out), reinterpret_cast<const __half2*>(in), n / 2);
  } else {
    gelu_half<<<(n + 255) / 256, 256>>>(out, in, n);
  }
}
