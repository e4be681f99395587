// entry: run
// buffer: x i32 64
// expect: launch step(x, 1, 2) 1x1x1 64x1x1
// expect: launch step(x, 2, 4) 1x1x1 64x1x1
// expect: launch step(x, 1, 4) 1x1x1 64x1x1
// expect: launch step(x, 4, 8) 1x1x1 64x1x1
// expect: launch step(x, 2, 8) 1x1x1 64x1x1
// expect: launch step(x, 1, 8) 1x1x1 64x1x1
#include <cuda_runtime.h>
__global__ void step(int* x, int j, int k) { int i = threadIdx.x, o = i ^ j; if (o > i && ((x[i] > x[o]) == ((i & k) == 0))) { int t = x[i]; x[i] = x[o]; x[o] = t; } }
void run(int* x) {
  for (int k = 2; k <= 8; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) step<<<1, 64>>>(x, j, k);
}
