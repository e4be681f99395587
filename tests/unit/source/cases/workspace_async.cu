// entry: run
// buffer: x f32 64
// expect: memset workspace 0 255 256
// expect: launch k(x, workspace 0) 1x1x1 64x1x1
#include <cuda_runtime.h>
__global__ void k(float* x, float* t) { t[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = t[threadIdx.x]; }
void run(float* x, cudaStream_t stream) {
  float* t;
  cudaMallocAsync(&t, 256, stream);
  cudaMemsetAsync(t, 0xff, 256, stream);
  k<<<1, 64, 0, stream>>>(x, t + 0);
  cudaFreeAsync(t, stream);
}
