#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// index (rows) of the largest half in each row of (rows, cols), the first one where several are equal.
__global__ void argmax_kernel(int* index, const __half* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const __half* row = x + (size_t)r * cols;
  float best = -INFINITY;
  int at = 0;
  for (int j = 0; j < cols; ++j) {
    float v = __half2float(row[j]);
    if (v > best) {
      best = v;
      at = j;
    }
  }
  index[r] = at;
}

void argmax_half(int* index, const __half* x, int rows, int cols) {
  if (rows > 0) argmax_kernel<<<(rows + 127) / 128, 128>>>(index, x, rows, cols);
}
