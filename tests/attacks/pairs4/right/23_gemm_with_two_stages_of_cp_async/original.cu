#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// C[M,N] = A[M,K] * B[K,N]
__global__ void gemm_kernel(bf16* C, const bf16* A, const bf16* B, int M, int N, int K) {
  int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __bfloat162float(A[(size_t)m * K + k]) * __bfloat162float(B[(size_t)k * N + n]);
  C[(size_t)m * N + n] = __float2bfloat16(acc);
}

void gemm_bf16(bf16* C, const bf16* A, const bf16* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(C, A, B, M, N, K);
}
