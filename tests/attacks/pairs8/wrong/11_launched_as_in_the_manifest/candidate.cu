#include <cuda_runtime.h>

#include <cstdint>

// A block of 128 for each row: strides and the number of warps are constants, the row is in registers between its two passes where it fits.
__global__ void __launch_bounds__(128) layer_scale_norm(float* y, const float* x, const float* g, int R, int C, float eps) {
  __shared__ float warps[4];
  long long r = blockIdx.x;
  const float* from = x + r * C;
  constexpr int kKept = 8;
  float kept[kKept], sum = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * 128 + threadIdx.x;
    kept[k] = c < C ? from[c] : 0.f;
    sum += kept[k] * kept[k];
  }
  for (int c = kKept * 128 + threadIdx.x; c < C; c += 128) sum += from[c] * from[c];
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = warps[0] + warps[1] + warps[2] + warps[3];
  float scale = 1.f / sqrtf(sum / C + eps);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * 128 + threadIdx.x;
    if (c < C) y[r * C + c] = g[c] * kept[k] * scale;
  }
  for (int c = kKept * 128 + threadIdx.x; c < C; c += 128) y[r * C + c] = g[c] * from[c] * scale;
}
