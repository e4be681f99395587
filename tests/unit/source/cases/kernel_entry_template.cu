// entry: scale<__half, 4>
// buffer: x f16 1000
// scalar: n i32 1000
// kernel-launch: ceil_div(n,128) 128
// expect: launch scale<__half, 4>(x, 1000) 8x1x1 128x1x1
#include <cuda_fp16.h>
template <typename T, int N> __global__ void scale(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * T(float(N));
}
