// entry: run
// buffer: x f32 64
// refused: launch attributes @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  cudaLaunchConfig_t config = {};
  cudaLaunchKernelEx(&config, k, x);
}
