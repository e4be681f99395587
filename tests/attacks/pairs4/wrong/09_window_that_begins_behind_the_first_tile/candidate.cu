#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


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

// Attention in a sliding window, D at most 64. Four queries per block, one per warp; tiles of 32 keys and values are in
// shared memory, a lane has the score of one key, then two elements of the output.
__global__ void __launch_bounds__(128)
    window_attention_kernel(bf16* o, const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                            int T, int D, int window, int tiles) {
  __shared__ float ks[32][65], vs[32][65], qs[4][64];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int b = blockIdx.x / tiles, t0 = blockIdx.x % tiles * 4, t = t0 + warp;
  for (int d = lane; d < D; d += 32) qs[warp][d] = t < T ? __bfloat162float(q[((size_t)b * T + t) * D + d]) : 0.0f;
  float scale = rsqrtf((float)D), top = __int_as_float(0xff800000), sum = 0.0f, acc0 = 0.0f, acc1 = 0.0f;
  for (int j0 = 0; j0 <= t0 + 3 && j0 < T; j0 += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * D; e += 128) {
      int j = j0 + e / D, d = e % D;
      ks[e / D][d] = j < T ? __bfloat162float(k[((size_t)b * T + j) * D + d]) : 0.0f;
      vs[e / D][d] = j < T ? __bfloat162float(v[((size_t)b * T + j) * D + d]) : 0.0f;
    }
    __syncthreads();
    if (t >= T || j0 > t) continue;
    int j = j0 + lane;
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += qs[warp][d] * ks[lane][d];
    s = j <= t && j > t - window ? s * scale : __int_as_float(0xff800000);
    float higher = fmaxf(top, warp_max(s));
    float old = expf(top - higher), p = expf(s - higher);
    sum = sum * old + warp_sum(p);
    acc0 *= old;
    acc1 *= old;
    for (int l = 0; l < 32; ++l) {
      float pl = __shfl_sync(0xffffffffu, p, l);
      if (j0 + l > t || j0 + l <= t - window) continue;
      acc0 += pl * (lane < D ? vs[l][lane] : 0.0f);
      acc1 += pl * (lane + 32 < D ? vs[l][lane + 32] : 0.0f);
    }
    top = higher;
  }
  if (t >= T) return;
  if (lane < D) o[((size_t)b * T + t) * D + lane] = __float2bfloat16(acc0 / sum);
  if (lane + 32 < D) o[((size_t)b * T + t) * D + lane + 32] = __float2bfloat16(acc1 / sum);
}

void window_attention(bf16* o, const bf16* q, const bf16* k, const bf16* v, int B, int T, int D, int window,
                      cudaStream_t stream) {
  if (B <= 0 || T <= 0 || D <= 0 || D > 64 || window <= 0) return;
  int tiles = (T + 3) / 4;
  window_attention_kernel<<<B * tiles, 128, 0, stream>>>(o, q, k, v, T, D, window, tiles);
}
