// entry: pick
// buffer: x f32 64
// expect: launch small(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
__global__ void large(float* x) { extern __shared__ float s[]; s[threadIdx.x] = 0; x[threadIdx.x] = s[threadIdx.x]; }
__global__ void small(float* x) { x[threadIdx.x] = 0; }
void pick(float* x) {
  const int bytes = 300 * 1024;
  cudaError_t status = cudaFuncSetAttribute((const void*)large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) {
    large<<<1, 64, bytes>>>(x);
  } else {
    cudaGetLastError();
    small<<<1, 64>>>(x);
  }
}
