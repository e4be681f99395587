// The lock is released before the count is incremented: two warps may count as one, and then none is last.
#include <cuda_runtime.h>

__global__ void block_sum_kernel(float* out, const float* x, int n) {
  __shared__ float part[8];
  __shared__ int lock, arrived;
  if (threadIdx.x == 0) lock = arrived = 0;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32;
  float sum = i < n ? x[i] : 0.0f;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    part[warp] = sum;
    __threadfence_block();
    atomicExch(&lock, 0);
    arrived += 1;
    if (arrived == 8) {
      float total = 0.0f;
      for (int w = 0; w < 8; ++w) total += part[w];
      out[blockIdx.x] = total;
    }
  }
}

void block_sum(float* out, const float* x, int n) {
  block_sum_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
