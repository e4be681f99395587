#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows, cols) = q * scale[row]: half codes to float.
__global__ void dequant_kernel(float* out, const __half* q, const float* scale, int rows, int cols) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)rows * cols) out[i] = __half2float(q[i]) * scale[i / cols];
}

void dequant(float* out, const __half* q, const float* scale, int rows, int cols) {
  size_t n = (size_t)rows * cols;
  if (n > 0) dequant_kernel<<<(unsigned)((n + 255) / 256), 256>>>(out, q, scale, rows, cols);
}
