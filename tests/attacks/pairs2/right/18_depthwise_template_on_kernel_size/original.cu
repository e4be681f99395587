#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Causal depthwise convolution: y[t,c] = sum over j of w[c,j] * x[t - K + 1 + j, c], x [T, C], w [C, K].
__global__ void depthwise_kernel(bf16* y, const bf16* x, const bf16* w, int T, int C, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int t = blockIdx.y;
  if (c >= C) return;
  float acc = 0.0f;
  for (int j = 0; j < K; ++j) {
    int s = t - K + 1 + j;
    if (s >= 0) acc += __bfloat162float(w[c * K + j]) * __bfloat162float(x[(size_t)s * C + c]);
  }
  y[(size_t)t * C + c] = __float2bfloat16(acc);
}

void depthwise_bf16(bf16* y, const bf16* x, const bf16* w, int T, int C, int K, cudaStream_t stream) {
  depthwise_kernel<<<dim3((C + 127) / 128, T), 128, 0, stream>>>(y, x, w, T, C, K);
}
