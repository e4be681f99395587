// entry: run
// buffer: x f32 64
// expect: launch k(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#if defined(USE_TORCH)
#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x) { return x; }
#endif
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
#define VALUE 2.0f
#else
#define VALUE 1.0f
#endif
__device__ float value() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  return VALUE;
#else
  return host_only_function();
#endif
}
#if 0
void broken( {
#endif
__global__ void k(float* x) { x[threadIdx.x] = value(); }
void run(float* x)
#ifdef ODD
{
#else
{
#endif
  k<<<1, 64>>>(x);
}
