#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) array. Rows of up to 1024 are kept in registers of a warp, by a template on the
// number of elements per lane; longer ones take a block with three passes.
__device__ inline float warp_max(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__device__ inline float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

template <int PER_LANE>
__global__ void __launch_bounds__(128) softmax_warp(float* out, const float* x, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float v[PER_LANE], top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int k = 0; k < PER_LANE; ++k) {
    int j = lane + 32 * k;
    v[k] = j < cols ? x[(size_t)r * cols + j] : -INFINITY;
    top = fmaxf(top, v[k]);
  }
  top = warp_max(top);
#pragma unroll
  for (int k = 0; k < PER_LANE; ++k) {
    v[k] = expf(v[k] - top);
    if (lane + 32 * k < cols) sum += v[k];
  }
  float inv = 1.0f / warp_sum(sum);
#pragma unroll
  for (int k = 0; k < PER_LANE; ++k) {
    int j = lane + 32 * k;
    if (j < cols) out[(size_t)r * cols + j] = v[k] * inv;
  }
}

__global__ void __launch_bounds__(256) softmax_block(float* out, const float* x, int cols) {
  __shared__ float tops[8], sums[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float top = -INFINITY, sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256) top = fmaxf(top, row[j]);
  top = warp_max(top);
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  for (int w = 0; w < 8; ++w) top = fmaxf(top, tops[w]);
  for (int j = threadIdx.x; j < cols; j += 256) sum += expf(row[j] - top);
  sum = warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += sums[w];
  float inv = 1.0f / sum;
  for (int j = threadIdx.x; j < cols; j += 256) out[(size_t)blockIdx.x * cols + j] = expf(row[j] - top) * inv;
}

void softmax_rows(float* out, const float* x, int rows, int cols) {
  if (rows <= 0) return;
  unsigned blocks = (rows - 1) / 4 + 1;
  if (cols <= 32) {
    softmax_warp<1><<<blocks, 128>>>(out, x, rows, cols);
  } else if (cols <= 128) {
    softmax_warp<4><<<blocks, 128>>>(out, x, rows, cols);
  } else if (cols <= 512) {
    softmax_warp<16><<<blocks, 128>>>(out, x, rows, cols);
  } else if (cols <= 1024) {
    softmax_warp<32><<<blocks, 128>>>(out, x, rows, cols);
  } else {
    softmax_block<<<rows, 256>>>(out, x, cols);
  }
}
