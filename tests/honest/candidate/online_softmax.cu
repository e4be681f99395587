// One pass for maximum and sum together, one warp per row.
#include <cuda_runtime.h>
#include <math.h>

__device__ void merge(float& largest, float& sum, float other_largest, float other_sum) {
  if (largest == -INFINITY && other_largest == -INFINITY) return;  // not by their maximum: fmaxf hides a NaN
  float m = fmaxf(largest, other_largest);
  sum = sum * expf(largest - m) + other_sum * expf(other_largest - m);
  largest = m;
}

__global__ void softmax_kernel(float* out, const float* x, int N, int C) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* p = x + (size_t)row * C;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = lane; i < C; i += 32) merge(largest, sum, p[i], 1.0f);
  for (int offset = 16; offset > 0; offset /= 2)
    merge(largest, sum, __shfl_xor_sync(0xffffffffu, largest, offset), __shfl_xor_sync(0xffffffffu, sum, offset));
  float inverse = 1.0f / sum;
  for (int i = lane; i < C; i += 32) out[(size_t)row * C + i] = expf(p[i] - largest) * inverse;
}

void softmax(float* out, const float* x, int N, int C) {
  softmax_kernel<<<(N + 3) / 4, 128>>>(out, x, N, C);
}
