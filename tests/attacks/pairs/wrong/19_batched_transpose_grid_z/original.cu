#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (batch, cols, rows) = transposes of x (batch, rows, cols).
__global__ void transpose_kernel(float* out, const float* x, int batch, int rows, int cols) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  size_t plane = (size_t)rows * cols;
  if (i >= plane * batch) return;
  size_t b = i / plane, in = i % plane;
  size_t r = in / cols, c = in % cols;
  out[b * plane + c * rows + r] = x[i];
}

void batched_transpose(float* out, const float* x, int batch, int rows, int cols) {
  size_t n = (size_t)batch * rows * cols;
  if (n > 0) transpose_kernel<<<(unsigned)((n + 255) / 256), 256>>>(out, x, batch, rows, cols);
}
