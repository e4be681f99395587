#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// total = sum of n floats; work (256) receives the partial sums of the blocks.
__global__ void partial_kernel(float* work, const float* x, int n) {
  __shared__ float parts[256];
  float sum = 0.0f;
  for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * 256) sum += x[i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] += parts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) work[blockIdx.x] = parts[0];
}

__global__ void total_kernel(float* total, const float* work) {
  float sum = 0.0f;
  for (int i = 0; i < 256; ++i) sum += work[i];
  *total = sum;
}

void total_sum(float* total, float* work, const float* x, int n) {
  partial_kernel<<<256, 256>>>(work, x, n);
  total_kernel<<<1, 1>>>(total, work);
}
