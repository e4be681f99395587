// entry: run
// buffer: x f32 64
// expect: launch k(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define STEP(a) \
  a + \
  1
__global__ void k(float* x) {
  x[threadIdx.x] = STEP(x[threadIdx.x]);
}
void helper_unused(const char* s) { (void)s; }
void run(float* x) {
  k<<<1,
      64>>>(x);
}
