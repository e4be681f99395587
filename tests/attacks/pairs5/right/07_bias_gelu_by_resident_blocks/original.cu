#include <cuda_bf16.h>
#include <cuda_runtime.h>


// y = gelu(x + bias), the exact one.
__global__ void bias_gelu_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* bias, int N, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * D) return;
  float v = __bfloat162float(x[i]) + __bfloat162float(bias[i % D]);
  y[i] = __float2bfloat16(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

void bias_gelu(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* bias, int N, int D,
               cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  bias_gelu_kernel<<<(unsigned)(((size_t)N * D + 255) / 256), 256, 0, stream>>>(y, x, bias, N, D);
}
