#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, heads, D) half vectors by pairs (i, i + D / 2). A thread computes one angle and applies it to all
// heads.
__global__ void rope_kernel(__half* out, const __half* x, const int* positions, int T, int heads, int D) {
  int pairs = D / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * pairs) return;
  int p = i % pairs, t = i / pairs;
  const __half position = __int2half_rn(positions[t]);
  float angle = __half2float(position) * powf(10000.0f, -2.0f * p / D);
  float cs, sn;
  sincosf(angle, &sn, &cs);
  size_t at = (size_t)t * heads * D + p;
  for (int h = 0; h < heads; ++h, at += D) {
    float a = __half2float(x[at]), b = __half2float(x[at + pairs]);
    out[at] = __float2half(a * cs - b * sn);
    out[at + pairs] = __float2half(b * cs + a * sn);
  }
}

void rope_half(__half* out, const __half* x, const int* positions, int T, int heads, int D) {
  int n = T * (D / 2);
  if (n > 0) rope_kernel<<<(n + 127) / 128, 128>>>(out, x, positions, T, heads, D);
}
