// entry: run
// buffer: x f32 64
// expect: memset workspace 0 0 256
// expect: launch k(x, workspace 0) 1x1x1 64x1x1
#include "include/check.cuh"
__global__ void k(float* x, float* scratch) { scratch[threadIdx.x] += x[threadIdx.x]; x[threadIdx.x] = scratch[threadIdx.x]; }
void run(float* x) {
  float* scratch;
  CUDA_CHECK(cudaMallocManaged(&scratch, 256));
  CUDA_CHECK(cudaMemAdvise(scratch, 256, cudaMemAdviseSetPreferredLocation, 0));
  CUDA_CHECK(cudaMemPrefetchAsync(scratch, 256, 0));
  CUDA_CHECK(cudaMemset(scratch, 0, 256));
  k<<<1, 64>>>(x, scratch);
  CUDA_CHECK(cudaFree(scratch));
}
