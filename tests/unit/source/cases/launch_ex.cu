// entry: run
// buffer: x f32 64
// scalar: n i32 60
// expect: launch k<float>(x, 60L, {03}) 2x1x1 32x1x1 shared 256
// expect: launch k<float>(x, 60L, {04}) 2x1x1 32x1x1 shared 256 cooperative
// expect: launch k<float>(x+16, 60L, {05}) 2x1x1 32x1x1 shared 256
#include <cuda_runtime.h>
template <typename T> __global__ void k(T* x, long n, char step) {
  extern __shared__ float s[];
  s[threadIdx.x] = step;
  if (threadIdx.x < n) x[threadIdx.x] += s[threadIdx.x];
}
void run(float* x, int n) {
  cudaLaunchConfig_t config = {0};
  config.gridDim = 2;
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = 256;
  cudaLaunchKernelEx(&config, k<float>, x, n, 3);
  cudaLaunchAttribute attributes[3];
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[1].val.priority = -1;
  attributes[2].id = cudaLaunchAttributeClusterDimension;
  attributes[2].val.clusterDim.x = attributes[2].val.clusterDim.y = attributes[2].val.clusterDim.z = 1;
  config.attrs = attributes;
  config.numAttrs = 3;
  cudaLaunchKernelEx(&config, k<float>, x, n, (char)4);
  config.numAttrs = 0;
  float* y = x + 4;
  long m = n;
  char step = 5;
  void* arguments[] = {&y, &m, &step};
  if (cudaLaunchKernelExC(&config, (const void*)k<float>, arguments) != cudaSuccess) return;
  config.blockDim = 2048;
  if (cudaLaunchKernelEx(&config, k<float>, x, n, 6) == cudaSuccess) k<float><<<1, 1, 256>>>(x, n, 7);
}
