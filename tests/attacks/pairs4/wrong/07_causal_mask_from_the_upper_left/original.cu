#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Causal attention of TQ queries over TK keys; the last query sees all keys, the one before it all but one, and so on:
// o[B,TQ,D] = softmax(q k^T / sqrt(D)) v. D is at most 128. A query that sees no key yields zeros.
__global__ void attention_kernel(__half* o, const __half* q, const __half* k, const __half* v, int B, int TQ, int TK,
                                 int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * TQ) return;
  int b = i / TQ, t = i % TQ;
  int visible = t + TK - TQ + 1;
  const __half* qi = q + (size_t)i * D;
  const __half* kb = k + (size_t)b * TK * D;
  const __half* vb = v + (size_t)b * TK * D;
  float scale = rsqrtf((float)D);
  float acc[128];
  for (int d = 0; d < D; ++d) acc[d] = 0.0f;
  float top = __int_as_float(0xff800000), sum = 0.0f;
  for (int j = 0; j < visible; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __half2float(qi[d]) * __half2float(kb[(size_t)j * D + d]);
    top = fmaxf(top, s * scale);
  }
  for (int j = 0; j < visible; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __half2float(qi[d]) * __half2float(kb[(size_t)j * D + d]);
    float p = expf(s * scale - top);
    sum += p;
    for (int d = 0; d < D; ++d) acc[d] += p * __half2float(vb[(size_t)j * D + d]);
  }
  for (int d = 0; d < D; ++d) o[(size_t)i * D + d] = __float2half(visible > 0 ? acc[d] / sum : 0.0f);
}

void causal_attention(__half* o, const __half* q, const __half* k, const __half* v, int B, int TQ, int TK, int D,
                      cudaStream_t stream) {
  if (B <= 0 || TQ <= 0 || D <= 0 || D > 128) return;
  attention_kernel<<<(B * TQ + 63) / 64, 64, 0, stream>>>(o, q, k, v, B, TQ, TK, D);
}
