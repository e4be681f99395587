// entry: run
// buffer: x f32 64
// scalar: n i32 60
// expect: launch k(x, 60) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x) {
#define DONE }
#define BEGIN {
#define END }
__device__ float half_of(float x) BEGIN return __fmul_rn(x, 0.5f); END
__global__ void k(float* x, int n) {
  EACH(i, n)
    x[i] = half_of(x[i]);
  }
  __shared__ float sum;
  if (threadIdx.x == 0) { sum = 0;
  DONE
  __syncthreads();
  atomicAdd(&sum, x[0]);
  x[threadIdx.x] = sum;
}
void run(float* x, int n)
BEGIN
  k<<<1, 64>>>(x, n);
END
