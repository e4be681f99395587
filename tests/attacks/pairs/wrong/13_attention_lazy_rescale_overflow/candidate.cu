#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = softmax(q k^T * scale) v for (B, T, D) half arrays. A warp per query, a key per lane; the accumulators are rescaled
// only where the maximum has grown by more than SLACK, since float sums have room.
constexpr float SLACK = 12.0f;

__global__ void __launch_bounds__(32)
attention_kernel(__half* out, const __half* q, const __half* k, const __half* v, int T, int D, float scale) {
  extern __shared__ float acc[];  // D
  int row = blockIdx.x, b = row / T, lane = threadIdx.x;
  const __half* query = q + (size_t)row * D;
  const __half* keys = k + (size_t)b * T * D;
  const __half* vals = v + (size_t)b * T * D;
  for (int d = lane; d < D; d += 32) acc[d] = 0.0f;
  float base = -INFINITY, sum = 0.0f;
  for (int t0 = 0; t0 < T; t0 += 32) {
    int t = t0 + lane;
    float s = -INFINITY;
    if (t < T) {
      s = 0.0f;
      for (int e = 0; e < D; ++e) s = fmaf(__half2float(query[e]), __half2float(keys[t * D + e]), s);
      s *= scale;
    }
    float top = s;
    for (int m = 16; m > 0; m >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, m));
    if (top > base + SLACK) {
      float shrink = expf(base - top);
      sum *= shrink;
      for (int d = lane; d < D; d += 32) acc[d] *= shrink;
      base = top;
    }
    __half p = __float2half(expf(s - base));
    sum += __half2float(p);
    int count = min(32, T - t0);
    for (int j = 0; j < count; ++j) {
      float w = __half2float(__shfl_sync(0xffffffffu, p, j));
      for (int d = lane; d < D; d += 32) acc[d] = fmaf(w, __half2float(vals[(t0 + j) * D + d]), acc[d]);
    }
  }
  for (int m = 16; m > 0; m >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, m);
  for (int d = lane; d < D; d += 32) out[(size_t)row * D + d] = __float2half(acc[d] / sum);
}

void attention(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D, float scale) {
  if (B * T * D > 0) attention_kernel<<<B * T, 32, D * sizeof(float)>>>(out, q, k, v, T, D, scale);
}
