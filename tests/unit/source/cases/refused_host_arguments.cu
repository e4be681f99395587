// entry: run
// buffer: h_in f32 64
// refused: copies argument 1 as if it were host memory @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* h_in) {
  float* d; cudaMalloc(&d, 256); cudaMemcpy(d, h_in, 256, cudaMemcpyHostToDevice);
  k<<<1, 64>>>(d);
}
