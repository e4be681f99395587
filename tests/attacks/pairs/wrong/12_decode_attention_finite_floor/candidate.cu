#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// One query per batch entry: out (B, D) = softmax(q (B, D) . k (B, T, D) * scale) @ v (B, T, D). A block of four warps per
// entry; the warps take every fourth key with an online softmax and are merged at the end.
constexpr int WARPS = 4;
constexpr float FLOOR = -1.0e4f;  // below every score, and safe to subtract

__global__ void __launch_bounds__(32 * WARPS)
decode_kernel(__half* out, const __half* q, const __half* k, const __half* v, int T, int D, float scale) {
  extern __shared__ float parts[];  // WARPS accumulators of D
  __shared__ float tops[WARPS], sums[WARPS];
  int b = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float* acc = parts + warp * D;
  for (int e = lane; e < D; e += 32) acc[e] = 0.0f;
  float top = FLOOR, sum = 0.0f;
  for (int t = warp; t < T; t += WARPS) {
    const __half* key = k + ((size_t)b * T + t) * D;
    const __half* val = v + ((size_t)b * T + t) * D;
    float s = 0.0f;
    for (int e = lane; e < D; e += 32) s = fmaf(__half2float(q[b * D + e]), __half2float(key[e]), s);
    for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffffu, s, m);
    s *= scale;
    float next = fmaxf(top, s), shrink = expf(top - next), p = expf(s - next);
    sum = sum * shrink + p;
    for (int e = lane; e < D; e += 32) acc[e] = acc[e] * shrink + p * __half2float(val[e]);
    top = next;
  }
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
  __syncthreads();
  float best = FLOOR, total = 0.0f;
  for (int w = 0; w < WARPS; ++w) best = fmaxf(best, tops[w]);
  for (int w = 0; w < WARPS; ++w) total += sums[w] * expf(tops[w] - best);
  for (int e = threadIdx.x; e < D; e += 32 * WARPS) {
    float o = 0.0f;
    for (int w = 0; w < WARPS; ++w) o += parts[w * D + e] * expf(tops[w] - best);
    out[b * D + e] = __float2half(o / total);
  }
}

void decode_attention(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D, float scale) {
  if (B > 0) decode_kernel<<<B, 32 * WARPS, WARPS * D * sizeof(float)>>>(out, q, k, v, T, D, scale);
}
