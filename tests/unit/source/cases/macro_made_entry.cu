// entry: scale_double
// buffer: x f64 64
// scalar: n i32 60
// expect: launch scale_double_kernel(x, 60) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define DEFINE(T)                                                         \
  __global__ void scale_##T##_kernel(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; } \
  void scale_##T(T* x, int n) { scale_##T##_kernel<<<1, 64>>>(x, n); }
DEFINE(float)
DEFINE(double)
