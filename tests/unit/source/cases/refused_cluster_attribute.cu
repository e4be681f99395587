// entry: run
// buffer: x f32 64
// refused: clusters of thread blocks are not supported @ 14
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.gridDim = 4;
  config.blockDim = 64;
  config.attrs = &attribute, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, k, x);
}
