// entry: run
// buffer: x f32 64
// scalar: n i32 60
// expect: launch scale_kernel(x, 60) 1x1x1 64x1x1
// expect: launch shift_kernel<float>(x, 60) 1x1x1 32x1x1
#include <cuda_runtime.h>
#define KERNEL_BEGIN(name, T)                         \
  __global__ void name##_kernel(T* x, const int n) {  \
    const int i = threadIdx.x;                        \
    if (i < n) {
#define KERNEL_END \
  }                \
  }
KERNEL_BEGIN(scale, float)
  float y = x[i];
  y *= 2;
  x[i] = y;
KERNEL_END
template <typename T>
KERNEL_BEGIN(shift, T)
  x[i] += T(1);
KERNEL_END
void run(float* x, int n) {
  scale_kernel<<<1, 64>>>(x, n);
  shift_kernel<<<1, 32>>>(x, n);
}
