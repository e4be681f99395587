// entry: run<float, 128>
// buffer: x f32 256
// scalar: n i32 256
// expect: launch k<float, 128>(x, 256) 2x1x1 128x1x1
#include <cuda_runtime.h>
template <typename T, int N> __global__ void k(T* x, int n) { int i = blockIdx.x * N + threadIdx.x; if (i < n) x[i] = T(1); }
template <typename T, int N> void run(T* x, int n) { k<T, N><<<(n + N - 1) / N, N>>>(x, n); }
