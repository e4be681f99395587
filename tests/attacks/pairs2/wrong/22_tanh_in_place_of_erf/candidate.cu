#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// GELU with the error function (not the approximation by tanh), as in BERT.
__global__ void bias_gelu(bf16* out, const bf16* x, const bf16* bias, int n, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = __bfloat162float(x[i]) + __bfloat162float(bias[i % C]);
  float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
  out[i] = __float2bfloat16(0.5f * v * (1.0f + t));
}
