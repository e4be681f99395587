#include <cuda_runtime.h>


__device__ __forceinline__ float block_max(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  __syncthreads();
  return v;
}
__device__ __forceinline__ float block_sum(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  __syncthreads();
  return v;
}

// The row waits in shared memory, and each exponential is made once: one read and one write of global memory.
__global__ void __launch_bounds__(256) softmax_cached(float* y, const float* x, int C) {
  extern __shared__ float row[];
  __shared__ float part[8];
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = in[c];
    row[c] = v;
    top = fmaxf(top, v);
  }
  top = block_max(top, part);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float e = expf(row[c] - top);
    row[c] = e;
    sum += e;
  }
  sum = block_sum(sum, part);
  for (int c = threadIdx.x; c < C; c += 256) out[c] = row[c] / sum;
}

// Rows that do not fit.
__global__ void __launch_bounds__(256) softmax_streamed(float* y, const float* x, int C) {
  __shared__ float part[8];
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < C; c += 256) top = fmaxf(top, in[c]);
  top = block_max(top, part);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) sum += expf(in[c] - top);
  sum = block_sum(sum, part);
  for (int c = threadIdx.x; c < C; c += 256) out[c] = expf(in[c] - top) / sum;
}

void softmax_rows(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  int device = 0, room = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  size_t bytes = (size_t)C * sizeof(float);
  if (bytes + 64 <= (size_t)room) softmax_cached<<<R, 256, bytes, stream>>>(y, x, C);
  else softmax_streamed<<<R, 256, 0, stream>>>(y, x, C);
}
