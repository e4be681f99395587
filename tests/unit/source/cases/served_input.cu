// entry: run
// buffer: x f32 64
// buffer: length i32 1 = 48
// expect: launch k(x, 96) 1x1x1 64x1x1
#include <cuda_runtime.h>
__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
void run(float* x, const int* length) {
  int n = 0;
  cudaMemcpy(&n, length, sizeof(int), cudaMemcpyDeviceToHost);
  k<<<1, 64>>>(x, n + *length);
}
