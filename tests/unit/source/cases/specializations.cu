// entry: run
// buffer: a f32 64
// buffer: b f64 64
// expect: launch k<float>(a) 1x1x1 32x1x1
// expect: launch k<double>(b) 1x1x1 64x1x1
#include <cuda_runtime.h>
template <typename T> struct Traits { static constexpr int threads = 32; };
template <> struct Traits<double> { static constexpr int threads = 64; };
template <typename T> __device__ T one();
template <> __device__ float one<float>() { return 1.f; }
template <> __device__ double one<double>() { return 1.0; }
template <typename T> __global__ void k(T* x) { x[threadIdx.x] = one<T>(); }
template <> __global__ void k<double>(double* x) { x[threadIdx.x] = one<double>() + 1; }
template __global__ void k<float>(float*);
void run(float* a, double* b) {
  k<float><<<1, Traits<float>::threads>>>(a);
  k<double><<<1, Traits<double>::threads>>>(b);
}
