// entry: run
// buffer: x f32 64
// expect: launch k(x, 1065353216, 64, 0L) 1x1x1 64x1x1
// expect: launch k(x, 1073741824, 64, 0L) 1x1x1 64x1x1
#include <cuda_runtime.h>
__global__ void k(float* x, float scale = 2.0f, int n = 64, const float* bias = nullptr) {
  if (threadIdx.x < n) x[threadIdx.x] = x[threadIdx.x] * scale + (bias ? bias[threadIdx.x] : 0.f);
}
void run(float* x, int times = 2) {
  for (int i = 0; i < times; ++i) k<<<1, 64>>>(x, 1.0 + i);
}
