#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = max(x + bias, 0) for a (rows, cols) half array.
__global__ void bias_relu_kernel(__half* out, const __half* x, const __half* bias, int rows, int cols) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * cols) return;
  float v = __half2float(x[i]) + __half2float(bias[i % cols]);
  out[i] = __float2half(v < 0.0f ? 0.0f : v);
}

void bias_relu(__half* out, const __half* x, const __half* bias, int rows, int cols) {
  size_t n = (size_t)rows * cols;
  if (n > 0) bias_relu_kernel<<<(unsigned)((n + 255) / 256), 256>>>(out, x, bias, rows, cols);
}
