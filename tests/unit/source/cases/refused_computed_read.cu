// entry: run
// buffer: x i32 2 = 4 5
// refused: which a kernel may have written before @ 8
#include <cuda_runtime.h>
__global__ void k(int* x) { x[threadIdx.x] += 1; }
void run(int* x) {
  k<<<1, 2>>>(x);
  if (x[0] > 4) k<<<1, 1>>>(x);
}
