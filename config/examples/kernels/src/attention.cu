// Attention scores: scores (B, T, T) = q (B, T, D) @ transpose(k (B, T, D)) * scale. B is batch times heads.
#include "../include/common.cuh"

__global__ void attention_scores_kernel(float* scores, const float* q, const float* k, int T, int D, float scale) {
  int b = blockIdx.z;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < T && col < T) {
    float acc = 0.0f;
    for (int d = 0; d < D; d++) {
      acc += q[(b * T + row) * D + d] * k[(b * T + col) * D + d];
    }
    scores[(b * T + row) * T + col] = acc * scale;
  }
}

void attention_scores(float* scores, const float* q, const float* k, int B, int T, int D, float scale) {
  dim3 block(16, 16);
  dim3 grid(ceil_div(T, 16), ceil_div(T, 16), B);
  attention_scores_kernel<<<grid, block>>>(scores, q, k, T, D, scale);
  LAUNCH_CHECK();
}
