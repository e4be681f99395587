#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void expand_weights(__half* w16, const signed char* wq, const float* scale, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)N * K) w16[i] = __float2half(wq[i] * scale[i / K]);
}

__global__ void linear_kernel(__half* y, const __half* x, const __half* w16, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __half2float(x[(size_t)m * K + k]) * __half2float(w16[(size_t)n * K + k]);
  y[(size_t)m * N + n] = __float2half(acc);
}

// y[M,N] = x[M,K] * w[N,K]^T with w = wq * scale, rounded to half; w16 is memory to work in.
void int8_linear(__half* y, const __half* x, const signed char* wq, const float* scale, __half* w16, int M, int N,
                 int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  if (K > 0) expand_weights<<<(unsigned)(((size_t)N * K + 255) / 256), 256, 0, stream>>>(w16, wq, scale, N, K);
  linear_kernel<<<dim3((N + 127) / 128, M), 128, 0, stream>>>(y, x, w16, M, N, K);
}
