// The last block to finish adds the parts; threadfence, and atomicInc wraps the ticket back to zero.
#include <cuda_runtime.h>
constexpr int kMaxBlocks = 1024;
__device__ float parts[kMaxBlocks];
__device__ unsigned ticket = 0;
__device__ float block_sum(float s) {
  __shared__ float buf[8];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) buf[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0.0f;
  for (int k = 0; k < 8; ++k) s += buf[k];
  return s;
}
__global__ void reduce(float* out, const float* x, int n) {
  __shared__ bool last;
  float s = 0.0f;
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += (long long)gridDim.x * 256) s += x[i] * x[i];
  s = block_sum(s);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s;
    __threadfence();
    last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  s = 0.0f;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += 256) s += __ldcg(parts + k);
  s = block_sum(s);
  if (threadIdx.x == 0) *out = s;
}
void sum_squares(float* out, const float* x, int n, cudaStream_t stream) {
  int blocks = n <= 0 ? 1 : (n - 1) / 1024 + 1;
  reduce<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, 256, 0, stream>>>(out, x, n);
}
