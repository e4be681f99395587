// entry: sum
// buffer: out f32 1
// buffer: in f32 100000
// scalar: n i32 100000
// expect: memset workspace 0 0 128
// expect: launch partial(workspace 0, in, 100000) 32x1x1 32x1x1
// expect: launch finish(out, workspace 0, 32) 1x1x1 32x1x1
#include "include/check.cuh"
__global__ void partial(float* p, const float* in, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
  s = warp_sum(s);
  if (threadIdx.x == 0) p[blockIdx.x] = s;
}
__global__ void finish(float* out, const float* p, int n) {
  float s = threadIdx.x < n ? p[threadIdx.x] : 0.f;
  s = warp_sum(s);
  if (threadIdx.x == 0) *out = s;
}
void sum(float* out, const float* in, int n) {
  float* workspace = nullptr;
  const int blocks = 32;
  CUDA_CHECK(cudaMalloc((void**)&workspace, blocks * sizeof(float)));
  CUDA_CHECK(cudaMemset(workspace, 0, blocks * sizeof(float)));
  partial<<<blocks, 32>>>(workspace, in, n);
  finish<<<1, 32>>>(out, workspace, blocks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(workspace));
}
