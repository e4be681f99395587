// entry: run
// buffer: x f32 64
// refused: textures @ 8
#include <cuda_runtime.h>
__global__ void k(float* x, cudaTextureObject_t t) { x[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
void run(float* x) {
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr);
  k<<<1, 64>>>(x, texture);
}
