// entry: run
// buffer: x f32 64
// expect: launch add_kernel(x) 1x1x1 64x1x1
// expect: launch mul_kernel(x) 1x1x1 64x1x1
// expect: launch sub_kernel(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define OPERATIONS(X) X(add, +) X(mul, *)
#define DEFINE(name, op)                                                                    \
  __global__ void name##_kernel(float* x) { x[threadIdx.x] = x[threadIdx.x] op threadIdx.x; } \
  static void name(float* x) { name##_kernel<<<1, 64>>>(x); }
OPERATIONS(DEFINE)
#define MORE X(sub)
#define X(name) DEFINE(name, -)
MORE
#undef X
void run(float* x) {
#define X(name, op) name(x);
  OPERATIONS(X)
#undef X
  sub(x);
}
