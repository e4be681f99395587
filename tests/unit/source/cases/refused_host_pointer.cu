// entry: run
// buffer: x f32 4
// refused: argument 2 of k is a pointer to host memory @ 8
#include <cuda_runtime.h>
__global__ void k(float* x, const float* w) { x[threadIdx.x] += w[threadIdx.x]; }
void run(float* x) {
  float w[4] = {1, 2, 3, 4};
  k<<<1, 4>>>(x, w);
}
