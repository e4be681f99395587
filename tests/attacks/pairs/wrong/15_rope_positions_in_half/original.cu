#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, heads, D) half vectors by pairs (i, i + D / 2), at the given positions.
__global__ void rope_kernel(__half* out, const __half* x, const int* positions, int T, int heads, int D) {
  int pairs = D / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * heads * pairs) return;
  int p = i % pairs, h = i / pairs % heads, t = i / pairs / heads;
  float angle = (float)positions[t] * powf(10000.0f, -2.0f * p / D);
  float cs = cosf(angle), sn = sinf(angle);
  size_t at = ((size_t)t * heads + h) * D + p;
  float a = __half2float(x[at]), b = __half2float(x[at + pairs]);
  out[at] = __float2half(a * cs - b * sn);
  out[at + pairs] = __float2half(b * cs + a * sn);
}

void rope_half(__half* out, const __half* x, const int* positions, int T, int heads, int D) {
  int n = T * heads * (D / 2);
  if (n > 0) rope_kernel<<<(n + 127) / 128, 128>>>(out, x, positions, T, heads, D);
}
