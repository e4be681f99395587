// entry: run
// buffer: x f32 64
// refused: host code writes device memory (a device allocation of managed memory, which only kernels may touch here) @ 9
#include <cuda_runtime.h>
__global__ void k(float* x, const int* n) { if (threadIdx.x < *n) x[threadIdx.x] = 0; }
void run(float* x) {
  int* n;
  cudaMallocManaged(&n, sizeof(int));
  *n = 32;
  k<<<1, 64>>>(x, n);
}
