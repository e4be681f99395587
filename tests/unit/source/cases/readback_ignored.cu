// entry: run
// buffer: x f32 64
// expect: launch k(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#include <cstdio>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  k<<<1, 64>>>(x);
  float first;
  cudaMemcpy(&first, x, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%f\n", first);
}
