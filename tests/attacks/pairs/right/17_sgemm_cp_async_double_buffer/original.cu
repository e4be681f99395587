#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N), row-major floats.
__global__ void sgemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += a[(size_t)row * K + k] * b[(size_t)k * N + col];
  c[(size_t)row * N + col] = acc;
}

void sgemm(float* c, const float* a, const float* b, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  sgemm_kernel<<<grid, block>>>(c, a, b, M, N, K);
}
