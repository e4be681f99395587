// entry: run
// buffer: x f32 64
// refused: Thrust @ 7
#include <thrust/sort.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  thrust::sort(x, x + 64);
  k<<<1, 64>>>(x);
}
