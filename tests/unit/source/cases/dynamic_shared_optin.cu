// entry: big
// buffer: x f32 64
// scalar: kib i32 100
// expect: launch k(x, 63) 1x1x1 64x1x1 shared 102400
#include "include/check.cuh"
extern __shared__ float pool[];
__global__ void k(float* x, int n) {
  pool[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = pool[n - threadIdx.x];
}
void big(float* x, int kib) {
  const size_t bytes = (size_t)kib * 1024;
  if (bytes >= 48 * 1024) {
    CUDA_CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  }
  k<<<1, 64, bytes>>>(x, 63);
  CUDA_CHECK(cudaGetLastError());
}
