#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = silu(x[M,K] * w[K,N] + bias[N]). ws is workspace of 8 * M * N floats; what it holds before and after means nothing.
__global__ void product(float* ws, const __half* x, const __half* w, int M, int N, int K) {
  int n = blockIdx.x * 64 + threadIdx.x;
  int m = blockIdx.y;
  if (n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __half2float(x[(size_t)m * K + k]) * __half2float(w[(size_t)k * N + n]);
  ws[(size_t)m * N + n] = acc;
}

__global__ void activate(__half* out, const float* ws, const __half* bias, int M, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= M * N) return;
  float v = ws[i] + __half2float(bias[i % N]);
  out[i] = __float2half(v / (1.0f + expf(-v)));
}

void linear_silu_f16(__half* out, const __half* x, const __half* w, const __half* bias, float* ws, int M, int N, int K,
                     cudaStream_t stream) {
  product<<<dim3((N + 63) / 64, M), 64, 0, stream>>>(ws, x, w, M, N, K);
  activate<<<(M * N + 255) / 256, 256, 0, stream>>>(out, ws, bias, M, N);
}
