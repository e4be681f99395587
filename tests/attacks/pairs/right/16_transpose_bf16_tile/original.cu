#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (cols, rows) = transpose of x (rows, cols), bfloat16.
__global__ void transpose_kernel(__nv_bfloat16* out, const __nv_bfloat16* x, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  for (int r = 0; r < rows; ++r) out[(size_t)c * rows + r] = x[(size_t)r * cols + c];
}

void transpose_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, int rows, int cols) {
  if (cols > 0) transpose_kernel<<<(cols + 63) / 64, 64>>>(out, x, rows, cols);
}
