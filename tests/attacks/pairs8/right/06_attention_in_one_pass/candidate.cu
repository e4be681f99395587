#include <cuda_runtime.h>

#include <cstdint>

// A warp for each query. 32 keys at a time, one for each lane; the maximum and the sum so far go along (online softmax). Columns of the output are in
// registers, up to 128 of them, and more are taken in further passes over the keys.
constexpr int kHeld = 4;

__global__ void __launch_bounds__(128) attend_kernel(float* o, const float* q, const float* k, const float* v, long long rows, int T, int S, int D, float scale) {
  long long row = (long long)blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  long long h = row / T;
  q += row * D, k += h * S * D, v += h * S * D, o += row * D;
  for (int d0 = 0; d0 < D; d0 += 32 * kHeld) {
    float m = -INFINITY, sum = 0, out[kHeld] = {};
    for (int s0 = 0; s0 < S; s0 += 32) {
      int s = s0 + lane;
      float dot = 0;
      if (s < S)
        for (int d = 0; d < D; ++d) dot += q[d] * k[(long long)s * D + d];
      float x = s < S ? dot * scale : -INFINITY, most = x;
#pragma unroll
      for (int i = 16; i > 0; i /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
      float higher = fmaxf(m, most);
      // Nothing but minus infinity so far: those keys count as in a sum whose maximum they are.
      float shrink = m == higher ? 1.f : expf(m - higher);
      float p = s >= S ? 0.f : x == higher && x < 0 && isinf(x) ? 1.f : expf(x - higher);
      m = higher;
      sum *= shrink;
#pragma unroll
      for (int j = 0; j < kHeld; ++j) out[j] *= shrink;
      float part = p;
#pragma unroll
      for (int i = 16; i > 0; i /= 2) part += __shfl_xor_sync(~0u, part, i);
      sum += part;
      int keys = S - s0 < 32 ? S - s0 : 32;
      for (int t = 0; t < keys; ++t) {
        float weight = __shfl_sync(~0u, p, t);
        const float* from = v + (long long)(s0 + t) * D + d0;
#pragma unroll
        for (int j = 0; j < kHeld; ++j)
          if (d0 + 32 * j + lane < D) out[j] += weight * from[32 * j + lane];
      }
    }
    float all = isinf(m) && m < 0 ? nanf("") : sum;
#pragma unroll
    for (int j = 0; j < kHeld; ++j)
      if (d0 + 32 * j + lane < D) o[d0 + 32 * j + lane] = out[j] / all;
  }
}

void attend(float* o, const float* q, const float* k, const float* v, int H, int T, int S, int D, float scale, cudaStream_t stream) {
  if (H <= 0 || T <= 0 || S <= 0 || D <= 0) return;
  long long rows = (long long)H * T;
  attend_kernel<<<(unsigned)((rows + 3) / 4), 128, 0, stream>>>(o, q, k, v, rows, T, S, D, scale);
}
