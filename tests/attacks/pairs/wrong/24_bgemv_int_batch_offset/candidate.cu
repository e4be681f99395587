#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// y (batch, rows) = A (batch, rows, cols) x (batch, cols), half data and float sums. A warp per row.
__global__ void __launch_bounds__(128)
bgemv_kernel(__half* y, const __half* a, const __half* x, int total, int rows, int cols) {
  int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= total) return;
  const __half* row = a + (unsigned)i * (unsigned)cols;
  const __half* vec = x + (size_t)(i / rows) * cols;
  float sum = 0.0f;
  for (int j = lane; j < cols; j += 32) sum = fmaf(__half2float(row[j]), __half2float(vec[j]), sum);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) y[i] = __float2half(sum);
}

void bgemv(__half* y, const __half* a, const __half* x, int batch, int rows, int cols) {
  long long n = (long long)batch * rows;
  if (n > 0) bgemv_kernel<<<(unsigned)((n + 3) / 4), 128>>>(y, a, x, (int)n, rows, cols);
}
