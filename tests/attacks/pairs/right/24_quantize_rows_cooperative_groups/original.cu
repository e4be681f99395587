#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rows of a (rows, cols) half array as bytes: scale[row] = amax / 127, q = round(x / scale) + 128.
__global__ void quantize_kernel(unsigned char* q, float* scale, const __half* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = 0.0f;
  for (int j = 0; j < cols; ++j) top = fmaxf(top, fabsf(__half2float(x[(size_t)r * cols + j])));
  float s = top > 0.0f ? top / 127.0f : 1.0f;
  scale[r] = s;
  for (int j = 0; j < cols; ++j) {
    q[(size_t)r * cols + j] = (unsigned char)(rintf(fminf(fmaxf(__half2float(x[(size_t)r * cols + j]) / s, -127.0f), 127.0f)) + 128.0f);
  }
}

void quantize_rows(unsigned char* q, float* scale, const __half* x, int rows, int cols) {
  if (rows > 0) quantize_kernel<<<(rows + 63) / 64, 64>>>(q, scale, x, rows, cols);
}
