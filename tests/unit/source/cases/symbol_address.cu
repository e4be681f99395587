// entry: run
// buffer: x f32 64
// expect: symbol table+16 8
// expect: symbol counter+0 4
// expect: launch k(x, 32) 1x1x1 64x1x1
#include <cuda_runtime.h>
__device__ int counter;
__constant__ float table[8];
__global__ void k(float* x, int n) { if (atomicAdd(&counter, 1) < n) x[threadIdx.x] *= table[threadIdx.x & 7]; }
void run(float* x) {
  float* t = nullptr;
  int* c = nullptr;
  size_t bytes = 0;
  cudaGetSymbolAddress((void**)&t, table);
  cudaGetSymbolAddress((void**)&c, counter);
  cudaGetSymbolSize(&bytes, table);
  const float values[2] = {0.5f, 2.0f};
  cudaMemcpy(t + 4, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaMemsetAsync(c, 0, sizeof(int), 0);
  k<<<1, 64>>>(x, (int)bytes);
}
