// Mean and variance in one pass (Welford), one warp per row, merged as in Chan et al..
#include <cuda_runtime.h>

struct Moments {
  float count, mean, m2;
};

__device__ Moments merge(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0.0f) return a;
  float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

__global__ void layer_norm_kernel(float* out, const float* x, const float* weight, const float* bias, int N, int C, float eps) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* p = x + (size_t)row * C;
  Moments m = {0.0f, 0.0f, 0.0f};
  for (int i = lane; i < C; i += 32) {
    m.count += 1.0f;
    float d = p[i] - m.mean;
    m.mean += d / m.count;
    m.m2 += d * (p[i] - m.mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    Moments other = {__shfl_xor_sync(0xffffffffu, m.count, offset), __shfl_xor_sync(0xffffffffu, m.mean, offset),
                     __shfl_xor_sync(0xffffffffu, m.m2, offset)};
    m = merge(m, other);
  }
  // Lanes merge in different orders: one of them provides the row's result.
  float mean = __shfl_sync(0xffffffffu, m.mean, 0), variance = __shfl_sync(0xffffffffu, m.m2, 0) / C;
  float scale = rsqrtf(variance + eps);
  for (int i = lane; i < C; i += 32) out[(size_t)row * C + i] = (p[i] - mean) * scale * weight[i] + bias[i];
}

void layer_norm(float* out, const float* x, const float* weight, const float* bias, int N, int C, float eps) {
  layer_norm_kernel<<<(N + 3) / 4, 128>>>(out, x, weight, bias, N, C, eps);
}
