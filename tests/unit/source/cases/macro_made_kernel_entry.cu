// entry: scale_float_kernel
// buffer: x f32 64
// scalar: n i32 60
// kernel-launch: 1 64
// expect: launch scale_float_kernel(x, 60) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define DEFINE(T) __global__ void scale_##T##_kernel(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
DEFINE(float)
DEFINE(double)
