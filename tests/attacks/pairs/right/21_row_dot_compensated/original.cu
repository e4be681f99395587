#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows) = dot products of the rows of a and b, (rows, cols) each.
__global__ void row_dot_kernel(float* out, const float* a, const float* b, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += a[(size_t)r * cols + j] * b[(size_t)r * cols + j];
  out[r] = sum;
}

void row_dot(float* out, const float* a, const float* b, int rows, int cols) {
  if (rows > 0) row_dot_kernel<<<(rows + 63) / 64, 64>>>(out, a, b, rows, cols);
}
