#include <cuda_bf16.h>
#include <cuda_runtime.h>


// y[M,N] = gelu(x[M,K] * w[N,K]^T + bias)
__global__ void linear_gelu_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* w,
                                   const __nv_bfloat16* bias, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __bfloat162float(x[m * K + k]) * __bfloat162float(w[n * K + k]);
  acc += __bfloat162float(bias[n]);
  y[i] = __float2bfloat16(0.5f * acc * (1.0f + erff(acc * 0.70710678f)));
}

void linear_gelu(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* bias, int M,
                 int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  linear_gelu_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(y, x, w, bias, M, N, K);
}
