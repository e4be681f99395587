// entry: run
// buffer: x f32 64
// refused: the launcher changes variables of its file in every call @ 8
#include <cuda_runtime.h>
template <int N> __global__ void k(float* x) { x[threadIdx.x] += N; }
template <typename T> struct Count { static inline long calls = 1000; };
template <int N> void start(float* x) { if (--Count<float>::calls > 0) k<N><<<1, 64>>>(x); }
void run(float* x) { start<2>(x); }
