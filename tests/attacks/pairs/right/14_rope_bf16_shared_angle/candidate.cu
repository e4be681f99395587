#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, heads, D) bfloat16 vectors by neighbouring pairs; out may be x. An odd last element is copied. A thread
// computes sine and cosine once for all heads, and moves pairs where they are aligned.
__global__ void rope_kernel(__nv_bfloat16* out, const __nv_bfloat16* x, const int* positions, int T, int heads, int D,
                            bool packed) {
  int pairs = (D + 1) / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * pairs) return;
  int p = i % pairs, t = i / pairs;
  size_t at = (size_t)t * heads * D + 2 * p;
  if (2 * p + 1 >= D) {
    for (int h = 0; h < heads; ++h, at += D) out[at] = x[at];
    return;
  }
  float sn, cs;
  sincosf((float)positions[t] * powf(10000.0f, -2.0f * p / D), &sn, &cs);
  for (int h = 0; h < heads; ++h, at += D) {
    if (packed) {
      float2 v = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(x + at));
      *reinterpret_cast<__nv_bfloat162*>(out + at) = __floats2bfloat162_rn(v.x * cs - v.y * sn, v.y * cs + v.x * sn);
    } else {
      float a = __bfloat162float(x[at]), b = __bfloat162float(x[at + 1]);
      out[at] = __float2bfloat16(a * cs - b * sn);
      out[at + 1] = __float2bfloat16(b * cs + a * sn);
    }
  }
}

void rope_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, const int* positions, int T, int heads, int D) {
  int n = T * ((D + 1) / 2);
  bool packed = D % 2 == 0 && ((size_t)out | (size_t)x) % 4 == 0;
  if (n > 0 && heads > 0) rope_kernel<<<(n + 127) / 128, 128>>>(out, x, positions, T, heads, D, packed);
}
