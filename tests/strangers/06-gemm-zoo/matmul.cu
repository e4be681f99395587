#include "gemm_kernels.cuh"

void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
  dim3 blockDim(32, 32);
  sgemm_naive<<<gridDim, blockDim>>>(M, N, K, A, B, C, NoEpilogue());
}

void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(N, 16), CEIL_DIV(M, 16));
  dim3 blockDim(16, 16);
  sgemm_shared_mem_block<16><<<gridDim, blockDim>>>(M, N, K, A, B, C, NoEpilogue());
}

void matmul_fast(const float *A, const float *B, float *C, int M, int N, int K) {
  if (M >= 128 && N >= 128) {
    dim3 gridDim(CEIL_DIV(N, 128), CEIL_DIV(M, 128));
    sgemm2DBlocktiling<128, 128, 8, 8, 8><<<gridDim, 256>>>(M, N, K, A, B, C, NoEpilogue());
  } else {
    dim3 gridDim(CEIL_DIV(N, 32), CEIL_DIV(M, 32));
    sgemm2DBlocktiling<32, 32, 8, 4, 4><<<gridDim, 64>>>(M, N, K, A, B, C, NoEpilogue());
  }
}

void matmul_bias_relu_naive(const float *A, const float *B, const float *bias, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
  dim3 blockDim(32, 32);
  sgemm_naive<<<gridDim, blockDim>>>(M, N, K, A, B, C, BiasRelu{bias});
}

void matmul_bias_relu_tiled(const float *A, const float *B, const float *bias, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(N, 32), CEIL_DIV(M, 32));
  dim3 blockDim(32, 32);
  sgemm_shared_mem_block<32><<<gridDim, blockDim>>>(M, N, K, A, B, C, BiasRelu{bias});
}

void matmul_bias_relu_fast(const float *A, const float *B, const float *bias, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(N, 64), CEIL_DIV(M, 64));
  sgemm2DBlocktiling<64, 64, 16, 4, 4><<<gridDim, 256>>>(M, N, K, A, B, C, BiasRelu{bias});
}
