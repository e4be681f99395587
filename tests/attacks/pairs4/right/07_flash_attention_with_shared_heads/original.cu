#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Causal attention where G heads of queries share a head of keys and values: o, q [HK * G,TQ,D], k, v [HK,TK,D], D at
// most 128. The last query sees all keys; a query that sees none yields zeros.
__global__ void attention_kernel(__half* o, const __half* q, const __half* k, const __half* v, int HK, int G, int TQ,
                                 int TK, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= HK * G * TQ) return;
  int h = i / TQ / G, t = i % TQ;
  int visible = t + TK - TQ + 1;
  const __half* qi = q + (size_t)i * D;
  const __half* kh = k + (size_t)h * TK * D;
  const __half* vh = v + (size_t)h * TK * D;
  float scale = rsqrtf((float)D), top = __int_as_float(0xff800000), sum = 0.0f;
  float acc[128];
  for (int d = 0; d < D; ++d) acc[d] = 0.0f;
  for (int j = 0; j < visible; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __half2float(qi[d]) * __half2float(kh[(size_t)j * D + d]);
    top = fmaxf(top, s * scale);
  }
  for (int j = 0; j < visible; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __half2float(qi[d]) * __half2float(kh[(size_t)j * D + d]);
    float p = expf(s * scale - top);
    sum += p;
    for (int d = 0; d < D; ++d) acc[d] += p * __half2float(vh[(size_t)j * D + d]);
  }
  for (int d = 0; d < D; ++d) o[(size_t)i * D + d] = __float2half(visible > 0 ? acc[d] / sum : 0.0f);
}

void gqa_attention(__half* o, const __half* q, const __half* k, const __half* v, int HK, int G, int TQ, int TK, int D,
                   cudaStream_t stream) {
  if (HK <= 0 || G <= 0 || TQ <= 0 || D <= 0 || D > 128) return;
  attention_kernel<<<(HK * G * TQ + 63) / 64, 64, 0, stream>>>(o, q, k, v, HK, G, TQ, TK, D);
}
