#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) half array, computed in float.
__global__ void softmax_kernel(__half* out, const __half* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const __half* row = x + (size_t)r * cols;
  float top = -INFINITY;
  for (int j = 0; j < cols; ++j) top = fmaxf(top, __half2float(row[j]));
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += expf(__half2float(row[j]) - top);
  for (int j = 0; j < cols; ++j) out[(size_t)r * cols + j] = __float2half(expf(__half2float(row[j]) - top) / sum);
}

void softmax_half(__half* out, const __half* x, int rows, int cols) {
  softmax_kernel<<<(rows + 127) / 128, 128>>>(out, x, rows, cols);
}
