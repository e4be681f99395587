#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N), bfloat16 with float accumulation.
__global__ void gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __bfloat162float(a[(size_t)row * K + k]) * __bfloat162float(b[(size_t)k * N + col]);
  c[(size_t)row * N + col] = __float2bfloat16(acc);
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  gemm_bf16_kernel<<<grid, block>>>(c, a, b, M, N, K);
}
