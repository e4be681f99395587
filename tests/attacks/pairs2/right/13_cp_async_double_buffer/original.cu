#include <cuda_runtime.h>


// C[b] = A[b] * B[b]: [M,K] * [K,N]
__global__ void bmm_kernel(float* C, const float* A, const float* B, int M, int N, int K) {
  int n = blockIdx.x * 32 + threadIdx.x;
  int m = blockIdx.y;
  size_t b = blockIdx.z;
  if (n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += A[(b * M + m) * K + k] * B[(b * K + k) * N + n];
  C[(b * M + m) * N + n] = acc;
}

void batched_matmul(float* C, const float* A, const float* B, int batch, int M, int N, int K, cudaStream_t stream) {
  bmm_kernel<<<dim3((N + 31) / 32, M, batch), 32, 0, stream>>>(C, A, B, M, N, K);
}
