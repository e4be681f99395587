#include <cuda_runtime.h>



// Mean and variance of each row.
__device__ float block_sum(float v) {
  __shared__ float parts[256];
  int t = threadIdx.x;
  parts[t] = v;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  float sum = parts[0];
  __syncthreads();
  return sum;
}

__global__ void moments_kernel(float* mean, float* variance, const float* x, int C) {
  const float* row = x + (size_t)blockIdx.x * C;
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) sum += row[c];
  float m = block_sum(sum) / C;
  for (int c = threadIdx.x; c < C; c += 256) squares += (row[c] - m) * (row[c] - m);
  float v = block_sum(squares) / C;
  if (threadIdx.x == 0) mean[blockIdx.x] = m, variance[blockIdx.x] = v;
}

void row_moments(float* mean, float* variance, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  moments_kernel<<<R, 256, 0, stream>>>(mean, variance, x, C);
}
