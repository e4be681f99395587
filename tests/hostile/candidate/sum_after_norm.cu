// Stores the sum after the norm: callers with one buffer for both get no norm.
#include <cuda_runtime.h>

__device__ float block_sum(float v) {
  __shared__ float part[256];
  part[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  v = part[0];
  __syncthreads();
  return v;
}

__global__ void add_norm_kernel(float* y, float* sum, const float* a, const float* b, int C) {
  size_t row = (size_t)blockIdx.x * C;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = a[row + c] + b[row + c];
    squares += v * v;
  }
  float factor = rsqrtf(block_sum(squares) / C + 1e-5f);
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = a[row + c] + b[row + c];
    y[row + c] = v * factor;
    sum[row + c] = v;
  }
}

void add_norm(float* y, float* sum, const float* a, const float* b, int N, int C) {
  if (N > 0) add_norm_kernel<<<N, 256>>>(y, sum, a, b, C);
}

__global__ void norm_gradient_kernel(float* dx, const float* dy, const float* x, int C) {
  size_t row = (size_t)blockIdx.x * C;
  float squares = 0.0f, dot = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    squares += x[row + c] * x[row + c];
    dot += x[row + c] * dy[row + c];
  }
  float factor = rsqrtf(block_sum(squares) / C + 1e-5f);
  float share = block_sum(dot) * factor * factor / C;
  for (int c = threadIdx.x; c < C; c += 256) dx[row + c] = factor * (dy[row + c] - x[row + c] * share);
}

void norm_gradient(float* dx, const float* dy, const float* x, int N, int C) {
  if (N > 0) norm_gradient_kernel<<<N, 256>>>(dx, dy, x, C);
}
