#include <cuda_runtime.h>


// c[M,N] = a[M,K] * b[K,N]
__global__ void sgemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = acc;
}

void sgemm(float* c, const float* a, const float* b, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  sgemm_kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(c, a, b, M, N, K);
}
