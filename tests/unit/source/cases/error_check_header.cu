// entry: add
// buffer: out f32 700
// buffer: a f32 700
// buffer: b f32 700
// scalar: n i32 700
// expect: launch add_kernel(out, a, b, 700) 6x1x1 128x1x1
#include "include/check.cuh"
#include <vector>
#include <string>
__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
void add(float* out, const float* a, const float* b, int n) {
  add_kernel<<<divide_up(n, 128), 128>>>(out, a, b, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}
