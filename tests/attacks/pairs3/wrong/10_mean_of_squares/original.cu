#include <cuda_runtime.h>

__device__ float Sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
__global__ void variance_kernel(float* out, const float* x, int C) {
  const float* row = x + (size_t)blockIdx.x * C;
  float s = 0.0f, q = 0.0f;
  for (int c = threadIdx.x; c < C; c += 32) s += row[c];
  float mean = Sum(s) / C;
  for (int c = threadIdx.x; c < C; c += 32) q += (row[c] - mean) * (row[c] - mean);
  q = Sum(q) / C;
  if (threadIdx.x == 0) out[blockIdx.x] = q;
}

void variance(float* out, const float* x, int R, int C) { variance_kernel<<<R, 32>>>(out, x, C); }
