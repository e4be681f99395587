#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) array. The row is read once and kept in shared memory.
__global__ void __launch_bounds__(256) softmax_kernel(float* out, const float* x, int cols) {
  extern __shared__ float row[];
  __shared__ float tops[8], sums[8];
  const float* src = x + (size_t)blockIdx.x * cols;
  int warp = threadIdx.x / 32;
  float top = -INFINITY;
  for (int j = threadIdx.x; j < cols; j += 256) {
    row[j] = src[j];
    top = fmaxf(top, row[j]);
  }
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (threadIdx.x % 32 == 0) tops[warp] = top;
  __syncthreads();
  for (int w = 0; w < 8; ++w) top = fmaxf(top, tops[w]);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256) {
    row[j] = expf(row[j] - top);
    sum += row[j];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) sums[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += sums[w];
  float inv = 1.0f / sum;
  for (int j = threadIdx.x; j < cols; j += 256) out[(size_t)blockIdx.x * cols + j] = row[j] * inv;
}

void softmax_rows(float* out, const float* x, int rows, int cols) {
  if (rows > 0) softmax_kernel<<<rows, 256, cols * sizeof(float)>>>(out, x, cols);
}
