#include <cuda_bf16.h>
#include <cuda_runtime.h>


// y = x rounded to bf16; NaN stays NaN (the loss scaler looks for it).
__global__ void cast_kernel(__nv_bfloat16* y, const float* x, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(x[i]);
}

void cast_to_bf16(__nv_bfloat16* y, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  cast_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, x, (size_t)n);
}
