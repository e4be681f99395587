// entry: f
// buffer: x f32 4
// refused: f is a __device__ function: name a launcher or a kernel @ 5
#include <cuda_runtime.h>
__device__ void f(float* x) { *x = 1; }
__global__ void k(float* x) { f(x); }
