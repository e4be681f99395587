#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out[T,H,D] = causal softmax(q k^T * scale) v; four queries, a warp each, share tiles of 32 keys; D up to 128. No scores in memory.
__global__ void __launch_bounds__(128) causal_kernel(__half* out, const __half* q, const __half* k, const __half* v, float scale, int T,
                                                     int H, int D) {
  __shared__ float qs[4][128];
  __shared__ __half ks[32][128 + 2];
  __shared__ __half vs[32][128];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int first = blockIdx.x * 4, h = blockIdx.y;
  int t = first + warp;
  int last = min(first + 3, T - 1);
  for (int d = lane; d < D; d += 32) qs[warp][d] = t < T ? __half2float(q[((size_t)t * H + h) * D + d]) : 0.0f;
  float top = -INFINITY, sum = 0.0f, acc[4] = {};
  for (int s0 = 0; s0 <= last; s0 += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * D; e += 128) {
      int s = e / D, d = e % D;
      bool in = s0 + s < T;
      size_t at = ((size_t)(s0 + s) * H + h) * D + d;
      ks[s][d] = in ? k[at] : __float2half(0.0f);
      vs[s][d] = in ? v[at] : __float2half(0.0f);
    }
    __syncthreads();
    if (t < T && s0 <= t) {
      int keys = min(32, t - s0 + 1);
      float score = -INFINITY;
      if (lane < keys) {
        float dot = 0.0f;
        for (int d = 0; d < D; ++d) dot += qs[warp][d] * __half2float(ks[lane][d]);
        score = dot * scale;
      }
      float m = fmaxf(top, score);
      for (int x = 16; x > 0; x >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, x));
      float shrink = top == m ? 1.0f : expf(top - m);
      float p = lane < keys && !(score == -INFINITY && m == -INFINITY) ? expf(score - m) : 0.0f;
      float tile = p;
      for (int x = 16; x > 0; x >>= 1) tile += __shfl_xor_sync(0xffffffffu, tile, x);
      sum = sum * shrink + tile;
      top = m;
#pragma unroll
      for (int j = 0; j < 4; ++j) acc[j] *= shrink;
      for (int s = 0; s < keys; ++s) {
        float f = __shfl_sync(0xffffffffu, p, s);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          int d = lane + j * 32;
          if (d < D) acc[j] += f * __half2float(vs[s][d]);
        }
      }
    }
  }
  if (t < T) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int d = lane + j * 32;
      if (d < D) out[((size_t)t * H + h) * D + d] = __float2half(acc[j] / sum);
    }
  }
}

void causal_attention_f16(__half* out, const __half* q, const __half* k, const __half* v, float* score, float scale, int T, int H,
                          int D, cudaStream_t stream) {
  causal_kernel<<<dim3((T + 3) / 4, H), 128, 0, stream>>>(out, q, k, v, scale, T, H, D);
}
