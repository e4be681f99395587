// entry: run
// buffer: a f32 64
// buffer: b f64 64
// expect: launch add_kernel(a, 64) 1x1x1 64x1x1
// expect: launch mul_kernel(b, 63) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define MAKE(name, T, op)                        \
  __global__ void name##_kernel(T* x, int n) {   \
    int i = threadIdx.x;                         \
    if (i < n) x[i] = x[i] op x[i];              \
  }                                              \
  static void name(T* x, int n) {                \
    name##_kernel<<<1, 64>>>(x, n);              \
  }
MAKE(add, float, +)
MAKE(mul, double, *)
void run(float* a, double* b) {
  add(a, 64);
  mul(b, 63);
}
