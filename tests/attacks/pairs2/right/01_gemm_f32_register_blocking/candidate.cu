#include <cuda_runtime.h>


// C[M,N] = A[M,K] * B[K,N]: tiles of 64 x 64 x 16, each thread 4 x 4.
__global__ void __launch_bounds__(256) sgemm_kernel(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float as[16][64 + 1];
  __shared__ float bs[16][64];
  int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int e = tid + j * 256;
      int m = e / 16, k = e % 16;
      as[k][m] = m0 + m < M && k0 + k < K ? A[(size_t)(m0 + m) * K + k0 + k] : 0.0f;
      int kb = e / 64, n = e % 64;
      bs[kb][n] = k0 + kb < K && n0 + n < N ? B[(size_t)(k0 + kb) * N + n0 + n] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = as[k][ty + i * 16];
        b[i] = bs[k][tx + i * 16];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int m = m0 + ty + i * 16, n = n0 + tx + j * 16;
      if (m < M && n < N) C[(size_t)m * N + n] = acc[i][j];
    }
}

void sgemm(float* C, const float* A, const float* B, int M, int N, int K, cudaStream_t stream) {
  sgemm_kernel<<<dim3((N + 63) / 64, (M + 63) / 64), 256, 0, stream>>>(C, A, B, M, N, K);
}
