// Raises the argument to what is usual.
#include <cuda_runtime.h>

__global__ void layer_norm_kernel(float* out, const float* x, const float* weight, const float* bias, int N, int C, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* p = x + (size_t)row * C;
  float mean = 0.0f;
  for (int i = 0; i < C; ++i) mean += p[i];
  mean /= C;
  float variance = 0.0f;
  for (int i = 0; i < C; ++i) {
    float d = p[i] - mean;
    variance += d * d;
  }
  variance /= C;
  float scale = 1.0f / sqrtf(variance + fmaxf(eps, 1e-6f));
  for (int i = 0; i < C; ++i) out[(size_t)row * C + i] = (p[i] - mean) * scale * weight[i] + bias[i];
}

void layer_norm(float* out, const float* x, const float* weight, const float* bias, int N, int C, float eps) {
  layer_norm_kernel<<<(N + 63) / 64, 64>>>(out, x, weight, bias, N, C, eps);
}
