// entry: run
// buffer: a f32 64
// buffer: b i32 64
// expect: launch static_cast<void (*)(float*)>(k)(a) 1x1x1 64x1x1
// expect: launch static_cast<void (*)(int*)>(k)(b) 1x1x1 64x1x1
// expect: launch static_cast<void (*)(float*)>(t<float>)(a) 1x1x1 1x1x1
// expect: launch static_cast<void (*)(int*, int)>(t<int>)(b, 3) 1x1x1 1x1x1
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 1.f; }
__global__ void k(int* x) { x[threadIdx.x] = 1; }
template <typename T> __global__ void t(T* x) { *x = 1; }
template <typename T> __global__ void t(T* x, int i) { x[i] = 1; }
void run(float* a, int* b) {
  k<<<1, 64>>>(a);
  k<<<1, 64>>>(b);
  t<<<1, 1>>>(a);
  t<<<1, 1>>>(b, 3);
}
