// A grid-wide barrier that assumes that all blocks are resident: more blocks than fit on the device never meet.
#include <cuda_runtime.h>

__global__ void total_kernel(float* out, float* partial, unsigned int* arrived, const float* x, int n) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x < n ? x[blockIdx.x] : 0.0f;
    __threadfence();
    atomicAdd(arrived, 1u);
  }
  while (*(volatile unsigned int*)arrived < gridDim.x) {
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int k = 0; k < gridDim.x; ++k) sum += partial[k];
    out[0] = sum;
  }
}

void total(float* out, const float* x, int n) {
  float* partial;
  unsigned int* arrived;
  int blocks = n + 1;
  cudaMallocAsync(&partial, blocks * sizeof(float), 0);
  cudaMallocAsync(&arrived, sizeof(unsigned int), 0);
  cudaMemsetAsync(arrived, 0, sizeof(unsigned int), 0);
  total_kernel<<<blocks, 1024>>>(out, partial, arrived, x, n);
  cudaFreeAsync(partial, 0);
  cudaFreeAsync(arrived, 0);
}
