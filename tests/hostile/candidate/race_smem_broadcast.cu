// The first warp's result is read before it is written: the second barrier is missing.
#include <cuda_runtime.h>

__global__ void block_sum_kernel(float* out, const float* x, int n) {
  __shared__ float warps[8];
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < 8; ++w) sum += warps[w];
    out[blockIdx.x] = sum;
  }
}

void block_sum(float* out, const float* x, int n) {
  block_sum_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
