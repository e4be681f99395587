#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Attention of one query per head: o[H,D] = softmax(q[H,D] k[H,T,D]^T / sqrt(D)) v[H,T,D]. ws: workspace, H * T floats.
__global__ void scores_kernel(float* ws, const bf16* q, const bf16* k, int H, int T, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)H * T) return;
  const bf16* qh = q + i / T * D;
  float s = 0.0f;
  for (int d = 0; d < D; ++d) s += __bfloat162float(qh[d]) * __bfloat162float(k[i * D + d]);
  ws[i] = s * rsqrtf((float)D);
}

__global__ void values_kernel(bf16* o, const float* ws, const bf16* v, int H, int T, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H * D) return;
  int h = i / D, d = i % D;
  const float* s = ws + (size_t)h * T;
  float top = __int_as_float(0xff800000), sum = 0.0f, acc = 0.0f;
  for (int t = 0; t < T; ++t) top = fmaxf(top, s[t]);
  for (int t = 0; t < T; ++t) {
    float p = expf(s[t] - top);
    sum += p;
    acc += p * __bfloat162float(v[((size_t)h * T + t) * D + d]);
  }
  o[i] = __float2bfloat16(acc / sum);
}

void decode_attention(bf16* o, const bf16* q, const bf16* k, const bf16* v, float* ws, int H, int T, int D,
                      cudaStream_t stream) {
  if (H <= 0 || T <= 0 || D <= 0) return;
  scores_kernel<<<(unsigned)(((size_t)H * T + 127) / 128), 128, 0, stream>>>(ws, q, k, H, T, D);
  values_kernel<<<(H * D + 63) / 64, 64, 0, stream>>>(o, ws, v, H, T, D);
}
