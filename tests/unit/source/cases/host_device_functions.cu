// entry: run
// buffer: x f32 333
// scalar: n i32 333
// expect: launch k(x, 333) 6x1x1 64x1x1
#include <algorithm>
#include <cmath>
#include <cstdio>
__host__ __device__ inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
__host__ __device__ constexpr int tile() { return 64; }
constexpr int twice(int x) { return 2 * x; }
inline void log_launch(int blocks) { std::printf("%d\n", blocks); }
__global__ void k(float* x, int n) {
  for (int i = threadIdx.x; i < ceil_div(n, gridDim.x); i += tile()) {
    int j = blockIdx.x * ceil_div(n, gridDim.x) + i;
    if (j < n) x[j] = sqrtf(fabsf(x[j])) + twice(2);
  }
}
void run(float* x, int n) {
  int blocks = std::min(ceil_div(n, tile()), std::max(1, twice(3)));
  log_launch(blocks);
  k<<<blocks, tile()>>>(x, n);
}
