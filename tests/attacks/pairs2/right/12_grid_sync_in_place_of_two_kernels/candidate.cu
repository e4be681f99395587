#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;


// q = round(x * 127 / max|x|), scale[0] = max|x| / 127 of the whole tensor (1 where that is 0). part is workspace of 64 floats.
__global__ void __launch_bounds__(256) absmax_quantize_kernel(signed char* q, float* scale, const float* x, float* part, int n) {
  __shared__ float s[256];
  float m = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) m = fmaxf(m, fabsf(x[i]));
  s[threadIdx.x] = m;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x] = s[0];
  cg::this_grid().sync();
  m = 0.0f;
  for (int i = 0; i < (int)gridDim.x; ++i) m = fmaxf(m, part[i]);
  float f = m > 0.0f ? m / 127.0f : 1.0f;
  if (blockIdx.x == 0 && threadIdx.x == 0) *scale = f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    float v = fminf(fmaxf(rintf(x[i] / f), -127.0f), 127.0f);
    q[i] = (signed char)(int)v;
  }
}

cudaError_t absmax_quantize(signed char* q, float* scale, const float* x, float* part, int n, cudaStream_t stream) {
  int blocks = n < 64 * 256 ? n / 256 + 1 : 64;  // 64 blocks of 256 threads are resident at once on any GPU with 16 SMs
  void* args[] = {&q, &scale, &x, &part, &n};
  return cudaLaunchCooperativeKernel((const void*)absmax_quantize_kernel, dim3(blocks), dim3(256), args, 0, stream);
}
