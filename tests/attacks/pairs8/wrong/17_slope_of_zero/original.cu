#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

__global__ void leaky_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, int n, float slope) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = __bfloat162float(x[i]);
  y[i] = __float2bfloat16(v > 0 ? v : slope * v);
}

void leaky_relu(__nv_bfloat16* y, const __nv_bfloat16* x, int n, float slope, cudaStream_t stream) {
  if (n > 0) leaky_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(y, x, n, slope);
}
