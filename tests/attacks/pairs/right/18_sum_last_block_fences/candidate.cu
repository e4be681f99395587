#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// total = sum of n floats; work (256) receives the partial sums of the blocks. One launch: the block that finishes last
// adds the partial sums.
__device__ unsigned int finished = 0;

__device__ inline float block_sum(float v, float* parts) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < 8; ++w) v += parts[w];
  __syncthreads();
  return v;
}

__global__ void __launch_bounds__(256) sum_kernel(float* total, float* work, const float* x, int n) {
  __shared__ float parts[8];
  __shared__ bool last;
  float sum = 0.0f;
  for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * 256) sum += x[i];
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) {
    work[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = block_sum(__ldcg(work + threadIdx.x), parts);
  if (threadIdx.x == 0) {
    *total = sum;
    finished = 0;
  }
}

void total_sum(float* total, float* work, const float* x, int n) {
  sum_kernel<<<256, 256>>>(total, work, x, n);
}
