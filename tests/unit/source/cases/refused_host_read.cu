// entry: run
// buffer: x f32 64
// buffer: n i32 1
// refused: host code reads device memory ('n') @ 8
#include <cuda_runtime.h>
__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
void run(float* x, const int* n) {
  const int count = *n;
  k<<<1, 64>>>(x, count);
}
