#include <cuda_runtime.h>

#include <cstdint>

__global__ void softmax_kernel(float* y, const float* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* from = x + (size_t)r * C;
  float m = -INFINITY, sum = 0;
  for (int c = 0; c < C; ++c) m = fmaxf(m, from[c]);
  for (int c = 0; c < C; ++c) sum += expf(from[c] - m);
  for (int c = 0; c < C; ++c) y[(size_t)r * C + c] = expf(from[c] - m) / sum;
}

void softmax_rows(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R > 0 && C > 0) softmax_kernel<<<(R + 63) / 64, 64, 0, stream>>>(y, x, R, C);
}
