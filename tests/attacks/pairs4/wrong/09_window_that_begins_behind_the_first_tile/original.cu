#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Attention in a sliding window: query t of q[B,T,D] sees the keys t - window + 1 ... t. D is at most 64.
__global__ void window_attention_kernel(bf16* o, const bf16* q, const bf16* k, const bf16* v, int B, int T, int D,
                                        int window) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * T) return;
  int b = i / T, t = i % T;
  int first = t - window + 1 > 0 ? t - window + 1 : 0;
  const bf16* qi = q + (size_t)i * D;
  float scale = rsqrtf((float)D), top = __int_as_float(0xff800000), sum = 0.0f;
  float acc[64];
  for (int d = 0; d < D; ++d) acc[d] = 0.0f;
  for (int j = first; j <= t; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __bfloat162float(qi[d]) * __bfloat162float(k[((size_t)b * T + j) * D + d]);
    top = fmaxf(top, s * scale);
  }
  for (int j = first; j <= t; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __bfloat162float(qi[d]) * __bfloat162float(k[((size_t)b * T + j) * D + d]);
    float p = expf(s * scale - top);
    sum += p;
    for (int d = 0; d < D; ++d) acc[d] += p * __bfloat162float(v[((size_t)b * T + j) * D + d]);
  }
  for (int d = 0; d < D; ++d) o[(size_t)i * D + d] = __float2bfloat16(acc[d] / sum);
}

void window_attention(bf16* o, const bf16* q, const bf16* k, const bf16* v, int B, int T, int D, int window,
                      cudaStream_t stream) {
  if (B <= 0 || T <= 0 || D <= 0 || D > 64 || window <= 0) return;
  window_attention_kernel<<<(B * T + 63) / 64, 64, 0, stream>>>(o, q, k, v, B, T, D, window);
}
