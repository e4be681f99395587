// Whole vectors of four, and what is left of a row by itself: nothing behind its last column is read.
#include <cuda_runtime.h>

__global__ void pitched_max_kernel(float* out, const float* x, int N, int C, int pitch) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* of = x + (size_t)row * pitch;
  float most = -INFINITY;
  if (pitch % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0 && C <= pitch) {
    int i = 4 * lane;
    for (; i + 3 < C; i += 128) {
      float4 v = *reinterpret_cast<const float4*>(of + i);
      most = fmaxf(fmaxf(most, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    for (; i < C; ++i) most = fmaxf(most, of[i]);
  } else {
    for (int i = lane; i < C; i += 32) most = fmaxf(most, of[i]);
  }
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (lane == 0) out[row] = most;
}

void pitched_max(float* out, const float* x, int N, int C) {
  int pitch = (C + 3) / 4 * 4;
  pitched_max_kernel<<<(N + 3) / 4, 128>>>(out, x, N, C, pitch);
}
