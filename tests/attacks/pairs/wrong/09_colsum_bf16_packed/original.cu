#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (cols) = sum over rows of a (rows, cols) bfloat16 array, in float: the gradient of a bias.
__global__ void bias_grad_kernel(float* out, const __nv_bfloat16* x, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) sum += __bfloat162float(x[(size_t)r * cols + c]);
  out[c] = sum;
}

void bias_grad(float* out, const __nv_bfloat16* x, int rows, int cols) {
  bias_grad_kernel<<<(cols + 127) / 128, 128>>>(out, x, rows, cols);
}
