// entry: residual
// buffer: out bf16 1024
// buffer: a bf16 1024
// buffer: b bf16 1024
// scalar: alpha f32 0.5
// scalar: n i32 1024
// expect: launch k(out, a, b, {003f}, 1024) 4x1x1 128x1x1
#include <cuda_bf16.h>
typedef __nv_bfloat16 bf16;
__global__ void k(bf16* out, const bf16* a, const bf16* b, bf16 alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 2 < n) {
    __nv_bfloat162 x = reinterpret_cast<const __nv_bfloat162*>(a)[i];
    __nv_bfloat162 y = reinterpret_cast<const __nv_bfloat162*>(b)[i];
    reinterpret_cast<__nv_bfloat162*>(out)[i] = __hfma2(__bfloat162bfloat162(alpha), y, x);
  }
}
void residual(bf16* out, const bf16* a, const bf16* b, float alpha, int n) {
  k<<<(n / 2 + 127) / 128, 128>>>(out, a, b, __float2bfloat16(alpha), n);
}
