#include <cuda_bf16.h>
#include <cuda_runtime.h>


// Blocks stay and take every gridDim.x-th row, so that none is launched for 768 elements only.
__global__ void __launch_bounds__(256)
    l2_normalize_kernel(__nv_bfloat16* y, float* norm, const __nv_bfloat16* x, int N, int D) {
  __shared__ float sums[8];
  for (int row = blockIdx.x; row < N; row += gridDim.x) {
    size_t base = (size_t)row * D;
    float s = 0.0f;
    for (int d = threadIdx.x; d < D; d += 256) {
      float v = __bfloat162float(x[base + d]);
      s += v * v;
    }
    for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0.0f;
    for (int w = 0; w < 8; ++w) s += sums[w];
    float length = sqrtf(s);
    if (threadIdx.x == 0) norm[row] = length;
    float scale = fmaxf(length, 1e-12f);
    for (int d = threadIdx.x; d < D; d += 256)
      y[base + d] = __float2bfloat16(__bfloat162float(x[base + d]) / scale);
  }
}

void l2_normalize(__nv_bfloat16* y, float* norm, const __nv_bfloat16* x, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  l2_normalize_kernel<<<N < 1056 ? N : 1056, 256, 0, stream>>>(y, norm, x, N, D);
}
