// c = a b in bfloat16, summed in float.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k)
    sum += __bfloat162float(a[(size_t)row * K + k]) * __bfloat162float(b[(size_t)k * N + column]);
  c[(size_t)row * N + column] = __float2bfloat16(sum);
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  gemm_bf16_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
