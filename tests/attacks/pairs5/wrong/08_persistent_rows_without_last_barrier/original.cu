#include <cuda_bf16.h>
#include <cuda_runtime.h>


// norm = sqrt(sum(x^2)), y = x / max(norm, 1e-12), a block per row.
__global__ void l2_normalize_kernel(__nv_bfloat16* y, float* norm, const __nv_bfloat16* x, int D) {
  __shared__ float sums[128];
  size_t base = (size_t)blockIdx.x * D;
  float s = 0.0f;
  for (int d = threadIdx.x; d < D; d += 128) {
    float v = __bfloat162float(x[base + d]);
    s += v * v;
  }
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
    __syncthreads();
  }
  float length = sqrtf(sums[0]);
  if (threadIdx.x == 0) norm[blockIdx.x] = length;
  for (int d = threadIdx.x; d < D; d += 128)
    y[base + d] = __float2bfloat16(__bfloat162float(x[base + d]) / fmaxf(length, 1e-12f));
}

void l2_normalize(__nv_bfloat16* y, float* norm, const __nv_bfloat16* x, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  l2_normalize_kernel<<<N, 128, 0, stream>>>(y, norm, x, D);
}
