#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// y (batch, rows) = A (batch, rows, cols) x (batch, cols), half data and float sums.
__global__ void bgemv_kernel(__half* y, const __half* a, const __half* x, int batch, int rows, int cols) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)batch * rows) return;
  long long b = i / rows;
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += __half2float(a[i * cols + j]) * __half2float(x[b * cols + j]);
  y[i] = __float2half(sum);
}

void bgemv(__half* y, const __half* a, const __half* x, int batch, int rows, int cols) {
  long long n = (long long)batch * rows;
  if (n > 0) bgemv_kernel<<<(unsigned)((n + 127) / 128), 128>>>(y, a, x, batch, rows, cols);
}
