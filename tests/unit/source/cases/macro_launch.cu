// entry: run
// buffer: x f32 512
// scalar: n i32 512
// scalar: mode i32 1
// expect: launch k<1>(x, 512) 8x1x1 64x1x1
// expect: launch k<1>(x, 512) 1x1x1 32x1x1
#include "include/check.cuh"
template <int M> __global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = M == 0 ? x[i] : -x[i];
}
#define LAUNCH(MODE, ...)                              \
  do {                                                 \
    k<MODE><<<divide_up(n, 64), dim3(64, 1, 1)>>>(__VA_ARGS__); \
    CUDA_CHECK(cudaGetLastError());                    \
  } while (0)
#define DISPATCH(mode, ...)             \
  switch (mode) {                       \
    case 0: { constexpr int M = 0; __VA_ARGS__(); break; } \
    default: { constexpr int M = 1; __VA_ARGS__(); break; } \
  }
void run(float* x, int n, int mode) {
  if (mode == 0) LAUNCH(0, x, n);
  else LAUNCH(1, x, n);
  DISPATCH(mode, [&] { k<M><<<1, 32, 0, nullptr>>>(x, n); });
}
