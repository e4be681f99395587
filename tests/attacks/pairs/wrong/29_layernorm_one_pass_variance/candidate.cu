#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = (x - mean) / sqrt(var + eps) * gamma + beta by rows of a (rows, cols) array. A warp per row; both sums in one pass.
__global__ void __launch_bounds__(128) layernorm_kernel(float* out, const float* x, const float* gamma, const float* beta,
                                                        int rows, int cols, float eps) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + (size_t)r * cols;
  float sum = 0.0f, squares = 0.0f;
  for (int j = lane; j < cols; j += 32) {
    float v = row[j];
    sum += v;
    squares = fmaf(v, v, squares);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  }
  float mean = sum / cols;
  float var = fmaxf(squares / cols - mean * mean, 0.0f);
  float inv = rsqrtf(var + eps);
  for (int j = lane; j < cols; j += 32) out[(size_t)r * cols + j] = (row[j] - mean) * inv * gamma[j] + beta[j];
}

void layernorm(float* out, const float* x, const float* gamma, const float* beta, int rows, int cols, float eps) {
  layernorm_kernel<<<(rows + 3) / 4, 128>>>(out, x, gamma, beta, rows, cols, eps);
}
