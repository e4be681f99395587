// entry: run
// buffer: x f32 64
// refused: a copy between symbols is not supported @ 13
#include <cuda_runtime.h>
__constant__ float table[8];
__device__ float values[8];
__global__ void k(float* x) { x[threadIdx.x] = table[threadIdx.x & 7] + values[threadIdx.x & 7]; }
void run(float* x) {
  void *to = nullptr, *from = nullptr;
  cudaGetSymbolAddress(&to, table);
  cudaGetSymbolAddress(&from, values);
  k<<<1, 64>>>(x);
  cudaMemcpyAsync(to, from, sizeof(table), cudaMemcpyDeviceToDevice, 0);
}
