#include <cuda_runtime.h>

__global__ void total_kernel(float* out, float* parts, unsigned* arrived, const float* x, int n) {
  __shared__ bool last;
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) parts[blockIdx.x * 8 + threadIdx.x / 32] = v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int b = 0; b < (int)gridDim.x * 8; ++b) sum += parts[b];
    out[0] = sum;
  }
}

void total(float* out, float* parts, unsigned* arrived, const float* x, int n) {
  cudaMemsetAsync(arrived, 0, sizeof(unsigned), 0);
  total_kernel<<<(n + 255) / 256, 256>>>(out, parts, arrived, x, n);
}
