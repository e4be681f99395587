#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Inclusive prefix sums along the rows of a (rows, cols) array: a block per row, 256 elements per step by scans of warps.
__device__ inline float warp_scan(float v, int lane) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    float up = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += up;
  }
  return v;
}

__global__ void __launch_bounds__(256) cumsum_kernel(float* out, const float* x, int cols) {
  __shared__ float totals[8];
  const float* src = x + (size_t)blockIdx.x * cols;
  float* dst = out + (size_t)blockIdx.x * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float carry = 0.0f;
  for (long long base = 0; base < cols; base += 256) {
    long long j = base + threadIdx.x;
    float v = warp_scan(j < cols ? src[j] : 0.0f, lane);
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    float before = carry;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      if (w < warp) before += totals[w];
      carry += totals[w];
    }
    if (j < cols) dst[j] = before + v;
    __syncthreads();
  }
}

void cumsum(float* out, const float* x, int rows, int cols) {
  if (rows > 0) cumsum_kernel<<<rows, 256>>>(out, x, cols);
}
