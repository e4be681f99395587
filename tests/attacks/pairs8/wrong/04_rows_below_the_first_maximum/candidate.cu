#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// A warp for each row: maximum and sum in one pass, rescaled as the maximum grows.
__global__ void __launch_bounds__(128) softmax_kernel(__half* y, const __half* x, const float* mask, int T, int S, float scale) {
  int t = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (t >= T) return;
  size_t row = (size_t)t * S;
  // Not infinity: lanes without an element would have infinity less infinity.
  float m = -1e30f, sum = 0;
  for (int s = lane; s < S; s += 32) {
    float v = scale * __half2float(x[row + s]) + mask[row + s];
    float higher = fmaxf(m, v);
    if (v != v) higher = v;
    sum = sum * expf(m - higher) + expf(v - higher);
    m = higher;
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, sum, d);
    float higher = fmaxf(m, om);
    if (om != om) higher = om;
    if (m != m) higher = m;
    sum = sum * expf(m - higher) + os * expf(om - higher);
    m = higher;
  }
  for (int s = lane; s < S; s += 32)
    y[row + s] = __float2half(expf(scale * __half2float(x[row + s]) + mask[row + s] - m) / sum);
}

void masked_softmax(__half* y, const __half* x, const float* mask, int T, int S, float scale, cudaStream_t stream) {
  if (T <= 0 || S <= 0) return;
  softmax_kernel<<<(unsigned)(((size_t)T + 3) / 4), 128, 0, stream>>>(y, x, mask, T, S, scale);
}
