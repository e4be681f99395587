#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N), row-major half matrices, accumulated in half.
__global__ void hgemm_kernel(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  __half acc = __float2half(0.0f);
  for (int k = 0; k < K; ++k) acc = __hfma(a[(size_t)row * K + k], b[(size_t)k * N + col], acc);
  c[(size_t)row * N + col] = acc;
}

void hgemm(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  hgemm_kernel<<<grid, block>>>(c, a, b, M, N, K);
}
