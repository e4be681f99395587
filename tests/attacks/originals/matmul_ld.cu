// Matrix product C = A * B in f32 with leading dimensions, one thread per element.
#include <cuda_runtime.h>

__global__ void matmul_ld_kernel(float* c, const float* a, const float* b, int M, int N, int K, int lda, int ldb) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += a[(size_t)row * lda + k] * b[(size_t)k * ldb + col];
  c[(size_t)row * N + col] = acc;
}

extern "C" void matmul_ld(float* c, const float* a, const float* b, int M, int N, int K, int lda, int ldb,
                          cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  matmul_ld_kernel<<<grid, block, 0, stream>>>(c, a, b, M, N, K, lda, ldb);
}
