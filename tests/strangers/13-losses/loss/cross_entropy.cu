#include "reduce.cuh"
#include <math_constants.h>

// losses[i] = log(sum_c exp(logits[i][c])) - logits[i][labels[i]]

__global__ void XentThread(const float* logits, const int* labels, float* losses, int rows, int classes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const float* x = logits + (long long)i * classes;
  float m = x[0];
  for (int c = 1; c < classes; ++c)
    if (x[c] > m) m = x[c];
  float s = 0;
  for (int c = 0; c < classes; ++c) s += expf(x[c] - m);
  losses[i] = logf(s) + m - x[labels[i]];
}

__global__ void XentBlock(const float* logits, const int* labels, float* losses, int classes) {
  __shared__ float smem[LOSS_THREADS];
  const float* x = logits + (long long)blockIdx.x * classes;
  float m = -CUDART_INF_F;
  for (int c = threadIdx.x; c < classes; c += LOSS_THREADS) m = fmaxf(m, x[c]);
  smem[threadIdx.x] = m;
  __syncthreads();
  for (int s = LOSS_THREADS / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) smem[threadIdx.x] = fmaxf(smem[threadIdx.x], smem[threadIdx.x + s]);
    __syncthreads();
  }
  m = smem[0];
  __syncthreads();
  float s = 0.f;
  for (int c = threadIdx.x; c < classes; c += LOSS_THREADS) s += expf(x[c] - m);
  s = BlockSum(s, smem);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(s) + m - x[labels[blockIdx.x]];
}

// a warp per row, two passes over registers or memory, vector loads when the rows are aligned
__global__ void XentWarp(const float* __restrict__ logits, const int* __restrict__ labels, float* __restrict__ losses,
                         int rows, int classes) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  const float* x = logits + (long long)row * classes;
  const bool vec = classes % 4 == 0;
  float m = -CUDART_INF_F;
  if (vec)
    for (int c = lane; c < classes / 4; c += 32) {
      const float4 v = reinterpret_cast<const float4*>(x)[c];
      m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
  else
    for (int c = lane; c < classes; c += 32) m = fmaxf(m, x[c]);
  for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  float s = 0.f;
  if (vec)
    for (int c = lane; c < classes / 4; c += 32) {
      const float4 v = reinterpret_cast<const float4*>(x)[c];
      s += (expf(v.x - m) + expf(v.y - m)) + (expf(v.z - m) + expf(v.w - m));
    }
  else
    for (int c = lane; c < classes; c += 32) s += expf(x[c] - m);
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) losses[row] = logf(s) + m - x[labels[row]];
}

void cross_entropy_naive(const float* logits, const int* labels, float* losses, int rows, int classes) {
  XentThread<<<(rows + 63) / 64, 64>>>(logits, labels, losses, rows, classes);
}
void cross_entropy_tiled(const float* logits, const int* labels, float* losses, int rows, int classes) {
  XentBlock<<<rows, LOSS_THREADS>>>(logits, labels, losses, classes);
}
void cross_entropy_fast(const float* logits, const int* labels, float* losses, int rows, int classes) {
  XentWarp<<<(rows + 7) / 8, 256>>>(logits, labels, losses, rows, classes);
}
