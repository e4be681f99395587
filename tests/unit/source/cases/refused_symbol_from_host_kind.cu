// entry: run
// buffer: x f32 64
// refused: the launcher copies argument 1 as if it were host memory; buffers of the manifest are device memory @ 8
#include <cuda_runtime.h>
__constant__ float table[8];
__global__ void k(float* x) { x[threadIdx.x] = table[threadIdx.x & 7]; }
void run(float* x) {
  cudaMemcpyToSymbol(table, x, sizeof(table));
  k<<<1, 64>>>(x);
}
