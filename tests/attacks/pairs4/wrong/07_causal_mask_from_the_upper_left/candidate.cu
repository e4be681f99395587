#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// Causal attention, D at most 128: a warp has a query, a lane up to 4 of its elements; softmax is online.
__global__ void __launch_bounds__(128)
    attention_kernel(__half* o, const __half* __restrict__ q, const __half* __restrict__ k,
                     const __half* __restrict__ v, int B, int TQ, int TK, int D) {
  int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= B * TQ) return;
  int b = i / TQ, t = i % TQ;
  float scale = rsqrtf((float)D);
  float qr[4], acc[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int d = lane + e * 32;
    qr[e] = d < D ? __half2float(q[(size_t)i * D + d]) : 0.0f;
    acc[e] = 0.0f;
  }
  float top = __int_as_float(0xff800000), sum = 0.0f;
  int last = t < TK ? t : TK - 1;  // the causal mask: nothing behind the query
  for (int j = 0; j <= last; ++j) {
    const __half* kj = k + ((size_t)b * TK + j) * D;
    const __half* vj = v + ((size_t)b * TK + j) * D;
    float s = 0.0f;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (lane + e * 32 < D) s += qr[e] * __half2float(kj[lane + e * 32]);
    s = warp_sum(s) * scale;
    float higher = fmaxf(top, s);
    float base = higher == __int_as_float(0xff800000) ? 0.0f : higher;
    float old = expf(top - base), p = expf(s - base);
    sum = sum * old + p;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (lane + e * 32 < D) acc[e] = acc[e] * old + p * __half2float(vj[lane + e * 32]);
    top = higher;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (lane + e * 32 < D) o[(size_t)i * D + lane + e * 32] = __float2half(last >= 0 ? acc[e] / sum : 0.0f);
}

void causal_attention(__half* o, const __half* q, const __half* k, const __half* v, int B, int TQ, int TK, int D,
                      cudaStream_t stream) {
  if (B <= 0 || TQ <= 0 || D <= 0 || D > 128) return;
  attention_kernel<<<(B * TQ + 3) / 4, 128, 0, stream>>>(o, q, k, v, B, TQ, TK, D);
}
