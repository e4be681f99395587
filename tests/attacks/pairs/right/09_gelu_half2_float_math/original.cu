#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// GELU (tanh form) of n half values, computed in float.
__global__ void gelu_kernel(__half* out, const __half* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = __half2float(x[i]);
  float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  out[i] = __float2half(0.5f * v * (1.0f + tanhf(u)));
}

void gelu_half(__half* out, const __half* x, int n) {
  if (n > 0) gelu_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
