// entry: run
// buffer: x f32 64
// scalar: n i32 64
// expect: launch k(x, 64) 1x1x1 64x1x1
#include <cuda_runtime.h>
#ifdef __cplusplus
extern "C" {
#endif
__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
int run(float* x, cudaStream_t stream, int n) {
  k<<<1, 64, 0, stream>>>(x, n);
  return cudaPeekAtLastError() == cudaSuccess ? 0 : -1;
}
#ifdef __cplusplus
}
#endif
