#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (cols) = sum over rows of a (rows, cols) bfloat16 array. Eight slices of rows per block, reduced in shared memory.
__global__ void __launch_bounds__(256) bias_grad_kernel(float* out, const __nv_bfloat16* x, int rows, int cols) {
  __shared__ float parts[8][33];
  int lane = threadIdx.x % 32, slice = threadIdx.x / 32, c = blockIdx.x * 32 + lane;
  float sum = 0.0f;
  if (c < cols) {
    int r = slice;
    for (; r + 24 < rows; r += 32) {
      const __nv_bfloat16* p = x + (size_t)r * cols + c;
      size_t step = (size_t)8 * cols;
      __nv_bfloat162 lo = __halves2bfloat162(p[0], p[step]);
      __nv_bfloat162 hi = __halves2bfloat162(p[2 * step], p[3 * step]);
      float2 s = __bfloat1622float2(__hadd2(lo, hi));
      sum += s.x + s.y;
    }
    for (; r < rows; r += 8) sum += __bfloat162float(x[(size_t)r * cols + c]);
  }
  parts[slice][lane] = sum;
  __syncthreads();
  if (slice == 0 && c < cols) {
    for (int s = 1; s < 8; ++s) sum += parts[s][lane];
    out[c] = sum;
  }
}

void bias_grad(float* out, const __nv_bfloat16* x, int rows, int cols) {
  bias_grad_kernel<<<(cols + 31) / 32, 256>>>(out, x, rows, cols);
}
