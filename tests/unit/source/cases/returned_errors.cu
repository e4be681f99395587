// entry: clamp
// buffer: out f16 64
// buffer: x f16 64
// scalar: lo f32 -1
// scalar: hi f32 0.5
// scalar: n i32 64
// expect: launch k(out, x, -1082130432, 1056964608, 64) 1x1x1 256x1x1
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void k(__half* out, const __half* x, float lo, float hi, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = __hmin(__hmax(x[threadIdx.x], __float2half(lo)), __float2half(hi));
}
cudaError_t clamp(__half* out, const __half* x, float lo, float hi, int n) {
  if (n < 0) return cudaErrorInvalidValue;
  k<<<(n + 255) / 256, 256>>>(out, x, lo, hi, n);
  return cudaGetLastError();
}
