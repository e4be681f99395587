// Atomic stores in place of a fence: nothing orders them before the ticket either.
#include <cuda_runtime.h>

constexpr int kMostBlocks = 64;

__global__ void mean_kernel(float* out, const float* x, float* parts, unsigned int* arrived, int n) {
  __shared__ float partial[8];
  __shared__ bool last;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int w = 0; w < 8; ++w) sum += partial[w];
    atomicExch(&parts[blockIdx.x], sum);
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  sum = 0.0f;
  for (int b = 0; b < gridDim.x; ++b) sum += *(volatile float*)&parts[b];
  out[0] = sum / n;
  *arrived = 0;
}

void mean(float* out, const float* x, int n) {
  static float* parts = nullptr;
  static unsigned int* arrived = nullptr;
  if (parts == nullptr) {
    cudaMalloc(&parts, kMostBlocks * sizeof(float));
    cudaMalloc(&arrived, sizeof(unsigned int));
    cudaMemset(arrived, 0, sizeof(unsigned int));
  }
  int blocks = (n + 1023) / 1024;
  mean_kernel<<<blocks < kMostBlocks ? blocks : kMostBlocks, 256>>>(out, x, parts, arrived, n);
}
