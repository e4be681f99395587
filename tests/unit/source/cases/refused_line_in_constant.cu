// entry: run
// buffer: x f32 64
// scalar: n i32 16
// refused: allocation at refused_line_in_constant.cu:18 (it says: line 18 of 18) @ 17
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define FAIL() ::std::fprintf(stderr, "line %d of %d\n", __LINE__, kLine)

__global__ void k(float* x) {

  x[threadIdx.x] = 0;
}

constexpr int kLine = __LINE__ + 2;
void run(float* x, int n) {
  if (n) FAIL(), cudaMalloc(&x, 1ull << 60), exit(1);
  k<<<1, 64>>>(x);
}
