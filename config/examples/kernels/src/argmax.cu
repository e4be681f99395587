// Index of the largest element of each row of (N, C); the first one where several are equal.
#include "../include/common.cuh"

__global__ void argmax_kernel(int* index, float* value, const float* logits, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* x = logits + row * C;
  float best = x[0];
  int best_index = 0;
  for (int c = 1; c < C; c++) {
    if (x[c] > best) {
      best = x[c];
      best_index = c;
    }
  }
  index[row] = best_index;
  value[row] = best;
}

void argmax(int* index, float* value, const float* logits, int N, int C) {
  const int threads = 256;
  argmax_kernel<<<ceil_div(N, threads), threads>>>(index, value, logits, N, C);
  LAUNCH_CHECK();
}
