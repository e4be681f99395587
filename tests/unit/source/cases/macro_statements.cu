// entry: run
// buffer: x f32 512
// scalar: n i32 500
// expect: launch k(x, 500) 2x1x1 256x1x1
#include <cuda_runtime.h>
#define SETUP int i = blockIdx.x * 256 + threadIdx.x; if (i >= n) return
#define STAGE(buffer, T)                     \
  __shared__ T buffer[256];                  \
  T other = T(0); T* const mine = &buffer[threadIdx.x]; \
  *mine = x[i]; /* two lines of a comment,
  which need no backslash */ __syncthreads()
#define ROUNDS(count) for (int r = 0; r < (count); ++r) { other += *mine; } other *= 2
__global__ void k(float* x, int n) {
  SETUP;
  STAGE(buffer, float);
  ROUNDS(3);
  x[i] = other;
}
void run(float* x, int n) { k<<<(n + 255) / 256, 256>>>(x, n); }
