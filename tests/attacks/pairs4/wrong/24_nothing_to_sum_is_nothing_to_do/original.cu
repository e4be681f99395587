#include <cuda_fp16.h>
#include <cuda_runtime.h>


// C[M,N] = A[M,K] * B[K,N] + bias[N]
__global__ void gemm_kernel(__half* C, const __half* A, const __half* B, const __half* bias, int M, int N, int K) {
  int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __half2float(A[(size_t)m * K + k]) * __half2float(B[(size_t)k * N + n]);
  C[(size_t)m * N + n] = __float2half(acc + __half2float(bias[n]));
}

void gemm_bias(__half* C, const __half* A, const __half* B, const __half* bias, int M, int N, int K,
               cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(C, A, B, bias, M, N, K);
}
