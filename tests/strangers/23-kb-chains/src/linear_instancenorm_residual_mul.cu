#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(expr)                                                                  \
  do {                                                                                    \
    cudaError_t status_ = (expr);                                                         \
    if (status_ != cudaSuccess) {                                                         \
      fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(status_), __FILE__, __LINE__); \
      abort();                                                                            \
    }                                                                                     \
  } while (0)

// z = x * w^T + b
__global__ void linear_kernel(const float* x, const float* w, const float* b, float* z,
                              int64_t rows, int64_t in, int64_t out) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= out) return;
  float acc = b[j];
  for (int64_t l = 0; l < in; l++) acc += x[i * in + l] * w[j * in + l];
  z[i * out + j] = acc;
}

// mean and 1/std of each row
__global__ void row_stats_kernel(const float* z, float* stats, int64_t cols, float eps) {
  __shared__ float warp_sum[32];
  __shared__ float warp_sq[32];
  const float* row = z + (int64_t)blockIdx.x * cols;
  float s = 0.f, q = 0.f;
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
    s += row[i];
    q += row[i] * row[i];
  }
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_down_sync(0xffffffffu, s, o);
    q += __shfl_down_sync(0xffffffffu, q, o);
  }
  if (threadIdx.x % 32 == 0) {
    warp_sum[threadIdx.x / 32] = s;
    warp_sq[threadIdx.x / 32] = q;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < (int)blockDim.x / 32; i++) {
      s += warp_sum[i];
      q += warp_sq[i];
    }
    const float mean = s / (float)cols;
    const float var = q / (float)cols - mean * mean;
    stats[2 * blockIdx.x] = mean;
    stats[2 * blockIdx.x + 1] = rsqrtf((var > 0.f ? var : 0.f) + eps);
  }
}

// z = (norm(z) + y) * y, in place
__global__ void residual_mul_kernel(float* z, const float* stats, const float* y, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    const int64_t r = i / cols;
    const float v = (z[i] - stats[2 * r]) * stats[2 * r + 1];
    z[i] = (v + y[i]) * y[i];
  }
}

void linear_instancenorm_residual_mul(const float* x, const float* w, const float* b, const float* y,
                                      float* stats, float* z, int rows, int in, int out, float eps) {
  linear_kernel<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(x, w, b, z, rows, in, out);
  CUDA_CHECK(cudaGetLastError());
  row_stats_kernel<<<rows, 256>>>(z, stats, out, eps);
  CUDA_CHECK(cudaGetLastError());
  const int64_t n = (int64_t)rows * out;
  const int64_t blocks = (n + 255) / 256;
  residual_mul_kernel<<<(unsigned)(blocks < 8192 ? blocks : 8192), 256>>>(z, stats, y, rows, out);
  CUDA_CHECK(cudaGetLastError());
}
