// entry: k<float>
// buffer: x f32 64
// scalar: p i32 4
// kernel-launch: 1 64
// refused: parameter 2 of k<float> is a structure by value (Params<T> p) @ 9
#include <cuda_runtime.h>
template <typename T> struct Params { int n; T scale; };
template <typename T>
__global__ void k(T* x, Params<T> p) { if (threadIdx.x < p.n) x[threadIdx.x] *= p.scale; }
