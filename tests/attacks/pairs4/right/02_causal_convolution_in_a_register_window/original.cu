#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Depthwise causal convolution with SiLU: y[b,c,t] = silu(bias[c] + sum over r of w[c,r] * x[b,c,t - R + 1 + r]), x
// being zero before the beginning.
__global__ void causal_conv1d_kernel(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int T,
                                     int R) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)B * C * T) return;
  int t = i % T, c = i / T % C;
  const bf16* row = x + i / T * T;
  float acc = __bfloat162float(bias[c]);
  for (int r = 0; r < R; ++r) {
    int at = t - R + 1 + r;
    float v = at >= 0 ? __bfloat162float(row[at]) : 0.0f;
    acc += __bfloat162float(w[(size_t)c * R + r]) * v;
  }
  y[i] = __float2bfloat16(acc / (1.0f + expf(-acc)));
}

void causal_conv1d(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int T, int R,
                   cudaStream_t stream) {
  size_t total = (size_t)B * C * T;
  if (total == 0) return;
  causal_conv1d_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, w, bias, B, C, T, R);
}
