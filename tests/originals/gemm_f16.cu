// c = a b in f16, summed and left in float.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_f16_kernel(float* c, const __half* a, const __half* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += __half2float(a[(size_t)row * K + k]) * __half2float(b[(size_t)k * N + column]);
  c[(size_t)row * N + column] = sum;
}

void gemm_f16(float* c, const __half* a, const __half* b, int M, int N, int K) {
  gemm_f16_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
