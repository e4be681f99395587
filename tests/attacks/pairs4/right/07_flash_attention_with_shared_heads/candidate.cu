#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

// A block has 16 queries of a head, a warp four of them; tiles of 32 keys and values go through shared memory. For the
// scores a lane has a key, for the output up to four elements. Tiles that no query of the block sees are not read.
__global__ void __launch_bounds__(128)
    attention_kernel(__half* o, const __half* __restrict__ q, const __half* __restrict__ k,
                     const __half* __restrict__ v, int G, int TQ, int TK, int D, int tiles) {
  __shared__ float ks[32][129], vs[32][128], qs[16][128];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int hq = blockIdx.x / tiles, t0 = blockIdx.x % tiles * 16;
  const __half* qh = q + (size_t)hq * TQ * D;
  const __half* kh = k + (size_t)(hq / G) * TK * D;
  const __half* vh = v + (size_t)(hq / G) * TK * D;
  for (int e = threadIdx.x; e < 16 * D; e += 128)
    qs[e / D][e % D] = t0 + e / D < TQ ? __half2float(qh[(size_t)(t0 + e / D) * D + e % D]) : 0.0f;
  float scale = rsqrtf((float)D);
  float top[4], sum[4], acc[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    top[i] = __int_as_float(0xff800000);
    sum[i] = 0.0f;
#pragma unroll
    for (int e = 0; e < 4; ++e) acc[i][e] = 0.0f;
  }
  int last = t0 + 15 < TQ ? t0 + 15 : TQ - 1;
  int limit = last + TK - TQ + 1;
  for (int j0 = 0; j0 < limit; j0 += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * D; e += 128) {
      int j = j0 + e / D;
      ks[e / D][e % D] = j < TK ? __half2float(kh[(size_t)j * D + e % D]) : 0.0f;
      vs[e / D][e % D] = j < TK ? __half2float(vh[(size_t)j * D + e % D]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int t = t0 + warp * 4 + i;
      int seen = t + TK - TQ + 1 - j0;  // of this tile; the same for the whole warp
      if (t >= TQ || seen <= 0) continue;
      if (seen > 32) seen = 32;
      float s = 0.0f;
      for (int d = 0; d < D; ++d) s += qs[warp * 4 + i][d] * ks[lane][d];
      s = lane < seen ? s * scale : __int_as_float(0xff800000);
      float higher = fmaxf(top[i], warp_max(s));
      float base = higher == __int_as_float(0xff800000) ? 0.0f : higher;
      float old = expf(top[i] - base), p = lane < seen ? expf(s - base) : 0.0f;
      top[i] = higher;
      sum[i] = sum[i] * old + warp_sum(p);
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[i][e] *= old;
      for (int j = 0; j < seen; ++j) {
        float pj = __shfl_sync(0xffffffffu, p, j);
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (lane + e * 32 < D) acc[i][e] += pj * vs[j][lane + e * 32];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int t = t0 + warp * 4 + i;
    if (t >= TQ) continue;
    bool any = t + TK - TQ + 1 > 0;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (lane + e * 32 < D)
        o[((size_t)hq * TQ + t) * D + lane + e * 32] = __float2half(any ? acc[i][e] / sum[i] : 0.0f);
  }
}

void gqa_attention(__half* o, const __half* q, const __half* k, const __half* v, int HK, int G, int TQ, int TK, int D,
                   cudaStream_t stream) {
  if (HK <= 0 || G <= 0 || TQ <= 0 || D <= 0 || D > 128) return;
  int tiles = (TQ + 15) / 16;
  attention_kernel<<<HK * G * tiles, 128, 0, stream>>>(o, q, k, v, G, TQ, TK, D, tiles);
}
