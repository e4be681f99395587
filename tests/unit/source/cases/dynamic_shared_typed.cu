// entry: both
// buffer: a f32 64
// buffer: b f64 64
// expect: launch reverse<float>(a, 64) 1x1x1 64x1x1 shared 256
// expect: launch reverse<double>(b, 64) 1x1x1 64x1x1 shared 512
#include <cuda_runtime.h>
template <typename T> struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int raw[];
    return (T*)raw;
  }
};
template <typename T> __global__ void reverse(T* x, int n) {
  T* s = SharedMemory<T>();
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[n - 1 - threadIdx.x];
}
template <typename T> void one(T* x) { reverse<T><<<1, 64, 64 * sizeof(T)>>>(x, 64); }
void both(float* a, double* b) { one(a); one(b); }
