#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, heads, D) bfloat16 vectors by neighbouring pairs; out may be x. An odd last element is copied.
__global__ void rope_kernel(__nv_bfloat16* out, const __nv_bfloat16* x, const int* positions, int T, int heads, int D) {
  int pairs = (D + 1) / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * heads * pairs) return;
  int p = i % pairs, h = i / pairs % heads, t = i / pairs / heads;
  size_t at = ((size_t)t * heads + h) * D + 2 * p;
  if (2 * p + 1 >= D) {
    out[at] = x[at];
    return;
  }
  float angle = (float)positions[t] * powf(10000.0f, -2.0f * p / D);
  float a = __bfloat162float(x[at]), b = __bfloat162float(x[at + 1]);
  out[at] = __float2bfloat16(a * cosf(angle) - b * sinf(angle));
  out[at + 1] = __float2bfloat16(b * cosf(angle) + a * sinf(angle));
}

void rope_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, const int* positions, int T, int heads, int D) {
  int n = T * heads * ((D + 1) / 2);
  if (n > 0) rope_kernel<<<(n + 127) / 128, 128>>>(out, x, positions, T, heads, D);
}
