// entry: run
// buffer: x f32 64
// scalar: mode i32 1
// expect: launch map<neg>(x, 64) 1x1x1 64x1x1
// expect: launch map<relu>(x, 64) 1x1x1 64x1x1
// expect: launch map<neg>(x, 3) 1x1x1 64x1x1
#include <cuda_runtime.h>
typedef void (*kernel_t)(float*, int);
__device__ float relu(float x) { return x > 0 ? x : 0; }
__device__ float neg(float x) { return -x; }
template <float (*F)(float)> __global__ void map(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = F(x[threadIdx.x]); }
static kernel_t choose(int mode) { return mode == 0 ? &map<relu> : &map<neg>; }
void run(float* x, int mode) {
  kernel_t kernel = choose(mode);
  kernel<<<1, 64>>>(x, 64);
  kernel_t table[2] = {map<relu>, map<neg>};
  table[0]<<<dim3(1), dim3(64)>>>(x, 64);
  (*kernel)<<<1, 64>>>(x, 3);
}
