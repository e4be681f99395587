#ifndef LOSS_REDUCE_CUH_
#define LOSS_REDUCE_CUH_

#include <cuda_runtime.h>

#define LOSS_THREADS 256

// The sum over a block, in every thread. smem: LOSS_THREADS floats.
static inline __device__ float BlockSum(float value, float* smem) {
  const int tid = threadIdx.x;
  smem[tid] = value;
  __syncthreads();
  for (int s = LOSS_THREADS / 2; s > 0; s >>= 1) {
    if (tid < s) smem[tid] += smem[tid + s];
    __syncthreads();
  }
  const float total = smem[0];
  __syncthreads();
  return total;
}

// partial[0..blocks) -> out[0] = scale * sum; one block
static __global__ void FinishMean(const float* partial, float* out, int blocks, float scale) {
  __shared__ float smem[LOSS_THREADS];
  float v = 0.f;
  for (int i = threadIdx.x; i < blocks; i += LOSS_THREADS) v += partial[i];
  v = BlockSum(v, smem);
  if (threadIdx.x == 0) out[0] = v * scale;
}

static inline int LossBlocks(int n) { return (n + LOSS_THREADS - 1) / LOSS_THREADS; }

#endif
