#include <cuda_fp16.h>
#include <cuda_runtime.h>


// C[M,N] = A[M,K] * B[K,N] + bias[N]: tiles of 32 x 32 x 32, each thread has 4 rows of one column.
__global__ void __launch_bounds__(256)
    gemm_kernel(__half* C, const __half* __restrict__ A, const __half* __restrict__ B, const __half* __restrict__ bias,
                int M, int N, int K) {
  __shared__ float as[32][33], bs[32][33];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  float acc[4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int i = ty + j * 8;
      as[i][tx] = m0 + i < M && k0 + tx < K ? __half2float(A[(size_t)(m0 + i) * K + k0 + tx]) : 0.0f;
      bs[i][tx] = k0 + i < K && n0 + tx < N ? __half2float(B[(size_t)(k0 + i) * N + n0 + tx]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int j = 0; j < 4; ++j) acc[j] += as[ty + j * 8][k] * bs[k][tx];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int m = m0 + ty + j * 8, n = n0 + tx;
    if (m < M && n < N) C[(size_t)m * N + n] = __float2half(acc[j] + __half2float(bias[n]));
  }
}

void gemm_bias(__half* C, const __half* A, const __half* B, const __half* bias, int M, int N, int K,
               cudaStream_t stream) {
  if (M <= 0 || N <= 0 || K <= 0) return;
  gemm_kernel<<<dim3((N + 31) / 32, (M + 31) / 32), 256, 0, stream>>>(C, A, B, bias, M, N, K);
}
