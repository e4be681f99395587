// entry: run
// buffer: x f32 64
// expect: launch k(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define BOUNDS(n) __launch_bounds__(n)
DEVICE float f(float x) { return x * x; }
KERNEL BOUNDS(64) k(float* __restrict__ x) { x[threadIdx.x] = f(x[threadIdx.x]); }
void run(float* x) { k<<<1, 64>>>(x); }
