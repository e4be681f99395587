// entry: run
// buffer: x f32 64
// scalar: n i32 60
// expect: launch scale(x, 60) 1x1x1 64x1x1
// expect: launch toolbox_shift(x, 60) 1x1x1 32x1x1
// expect: launch negate(x) 1x1x1 16x1x1
#include <cuda_runtime.h>
#define KERNEL(name, T) __global__ void name(T* __restrict__ x, int n)
#define NAME(x) toolbox_##x
#define COUNTED(name) static int calls_of_##name; __global__ void name(float* x)
#define DOUBLED(name) __device__ float name(float v)
DOUBLED(doubled) { return __fadd_rn(v, v); }
KERNEL(scale, float) {
  if (threadIdx.x < n) x[threadIdx.x] = doubled(x[threadIdx.x]);
}
__global__ void NAME(shift)(float* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] += 1;
}
COUNTED(negate) {
  x[threadIdx.x] = -x[threadIdx.x];
}
void run(float* x, int n) {
  scale<<<1, 64>>>(x, n);
  toolbox_shift<<<1, 32>>>(x, n);
  negate<<<1, calls_of_negate + 16>>>(x);
}
