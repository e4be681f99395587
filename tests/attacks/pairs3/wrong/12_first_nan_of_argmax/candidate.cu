#include <cuda_runtime.h>

__global__ void argmax_kernel(int* out, const float* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float best = row[0];
  int at = 0;
  for (int c = 1; c < C; ++c)
    if (row[c] > best) best = row[c], at = c;
  out[r] = at;
}

void argmax(int* out, const float* x, int R, int C) { argmax_kernel<<<(R + 63) / 64, 64>>>(out, x, R, C); }
