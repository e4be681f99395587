// entry: run
// buffer: x f32 64
// refused: programmatic dependent launches are not supported @ 13
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = config.blockDim = 1;
  config.attrs = &attribute, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, k, x);
}
