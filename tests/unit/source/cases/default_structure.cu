// entry: run
// buffer: x f32 64
// scalar: grid i32 3
// scalar: n i32 64
// expect: launch k(x, 64, 1065353216) 3x1x1 64x1x1
#include <cuda_runtime.h>
struct Options { float scale = 1; };
__global__ void k(float* x, int n, float scale) { if (threadIdx.x < n) x[threadIdx.x] *= scale; }
void run(float* x, dim3 grid, const int& n, Options options = {}) { k<<<grid, 64>>>(x, n, options.scale); }
