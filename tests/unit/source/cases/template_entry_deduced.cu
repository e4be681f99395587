// entry: run
// buffer: x f16 256
// scalar: n i32 256
// expect: launch k<__half>(x, 256) 4x1x1 64x1x1
#include <cuda_fp16.h>
template <typename T> __global__ void k(T* x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] = T(1.0f); }
template <typename T> void run(T* x, int n) { k<<<(n + 63) / 64, 64>>>(x, n); }
