#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// dot = sum of a * b over n floats; work (blocks of 4096 elements, at least one) receives the sums of the blocks.
__global__ void partial_kernel(float* work, const float* a, const float* b, int n) {
  __shared__ float parts[256];
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    size_t i = (size_t)blockIdx.x * 4096 + k * 256 + threadIdx.x;
    if (i < n) sum += a[i] * b[i];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] += parts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) work[blockIdx.x] = parts[0];
}

__global__ void total_kernel(float* dot, const float* work, int blocks) {
  float sum = 0.0f;
  for (int i = 0; i < blocks; ++i) sum += work[i];
  *dot = sum;
}

void dot_product(float* dot, float* work, const float* a, const float* b, int n) {
  int blocks = n / 4096 + 1;
  partial_kernel<<<blocks, 256>>>(work, a, b, n);
  total_kernel<<<1, 1>>>(dot, work, blocks);
}
