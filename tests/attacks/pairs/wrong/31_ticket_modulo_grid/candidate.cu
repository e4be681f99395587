#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// dot = sum of a * b over n floats; work (blocks of 4096 elements, at least one) receives the sums of the blocks. One launch:
// every block draws a ticket when its sum is stored, and the holder of the last one adds them all.
__device__ unsigned int tickets = 0;

__global__ void __launch_bounds__(256) dot_kernel(float* dot, float* work, const float* a, const float* b, int n) {
  __shared__ float parts[8];
  __shared__ bool last;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    size_t i = (size_t)blockIdx.x * 4096 + k * 256 + threadIdx.x;
    if (i < n) sum = fmaf(a[i], b[i], sum);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int w = 0; w < 8; ++w) sum += parts[w];
    work[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets, 1u) % gridDim.x == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __threadfence();
  sum = 0.0f;
  for (int i = threadIdx.x; i < gridDim.x; i += 32) sum += __ldcg(work + i);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) *dot = sum;
}

void dot_product(float* dot, float* work, const float* a, const float* b, int n) {
  dot_kernel<<<n / 4096 + 1, 256>>>(dot, work, a, b, n);
}
