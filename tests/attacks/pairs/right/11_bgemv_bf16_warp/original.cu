#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// y (batch, rows) = A (batch, rows, cols) x (batch, cols), bfloat16 data and float sums.
__global__ void bgemv_kernel(__nv_bfloat16* y, const __nv_bfloat16* a, const __nv_bfloat16* x, int batch, int rows, int cols) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)batch * rows) return;
  long long b = i / rows;
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += __bfloat162float(a[i * cols + j]) * __bfloat162float(x[b * cols + j]);
  y[i] = __float2bfloat16(sum);
}

void bgemv_bf16(__nv_bfloat16* y, const __nv_bfloat16* a, const __nv_bfloat16* x, int batch, int rows, int cols) {
  long long n = (long long)batch * rows;
  if (n > 0) bgemv_kernel<<<(unsigned)((n + 127) / 128), 128>>>(y, a, x, batch, rows, cols);
}
