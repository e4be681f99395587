// Tiles in shared memory, four sums per element, all in float.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  __shared__ float left[16][17], right[16][17];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int k = 0; k < K; k += 16) {
    left[y][x] = row < M && k + x < K ? __bfloat162float(a[(size_t)row * K + k + x]) : 0.0f;
    right[y][x] = k + y < K && column < N ? __bfloat162float(b[(size_t)(k + y) * N + column]) : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum[i % 4] += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < M && column < N) c[(size_t)row * N + column] = __float2bfloat16((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  gemm_bf16_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
