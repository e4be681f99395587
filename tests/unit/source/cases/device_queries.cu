// entry: run
// buffer: x f32 100000
// scalar: n i32 100000
// expect: launch k(x, 100000) 196x1x1 512x1x1
#include "include/check.cuh"
__global__ void k(float* x, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 0; }
void run(float* x, int n) {
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  int blocks = 0, threads = 0;
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, k, 0, 512));
  if (properties.major >= 8) k<<<min(properties.multiProcessorCount * 2, divide_up(n, threads)), threads>>>(x, n);
}
