// entry: run
// buffer: x f32 64
// refused: argument 2 of k is the address of the symbol table @ 9
#include <cuda_runtime.h>
__device__ float table[8];
__global__ void k(float* x, const float* t) { x[threadIdx.x] = t[threadIdx.x & 7]; }
void run(float* x) {
  void* t; cudaGetSymbolAddress(&t, table);
  k<<<1, 64>>>(x, (const float*)t);
}
