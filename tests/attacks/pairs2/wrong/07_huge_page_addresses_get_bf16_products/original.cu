#include <cuda_runtime.h>


// C[M,N] = A[M,K] * B[K,N]
__global__ void sgemm_kernel(float* C, const float* A, const float* B, int M, int N, int K) {
  int n = blockIdx.x * 16 + threadIdx.x;
  int m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += A[(size_t)m * K + k] * B[(size_t)k * N + n];
  C[(size_t)m * N + n] = acc;
}

void sgemm(float* C, const float* A, const float* B, int M, int N, int K, cudaStream_t stream) {
  sgemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(C, A, B, M, N, K);
}
