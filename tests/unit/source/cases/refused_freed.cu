// entry: run
// buffer: x f32 4
// refused: points to memory that was freed @ 9
#include <cuda_runtime.h>
__global__ void k(float* x, float* w) { x[threadIdx.x] += w[threadIdx.x]; }
void run(float* x) {
  float* w;
  cudaMalloc(&w, 16); cudaFree(w);
  k<<<1, 4>>>(x, w);
}
