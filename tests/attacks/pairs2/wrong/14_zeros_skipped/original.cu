#include <cuda_fp16.h>
#include <cuda_runtime.h>


// C[M,N] = A[M,K] * B[K,N]; f16 in and out, sums in float.
__global__ void hgemm_kernel(__half* C, const __half* A, const __half* B, int M, int N, int K) {
  int n = blockIdx.x * 16 + threadIdx.x;
  int m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    float a = __half2float(A[(size_t)m * K + k]);
    acc += a * __half2float(B[(size_t)k * N + n]);
  }
  C[(size_t)m * N + n] = __float2half(acc);
}

void hgemm(__half* C, const __half* A, const __half* B, int M, int N, int K, cudaStream_t stream) {
  hgemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(C, A, B, M, N, K);
}
