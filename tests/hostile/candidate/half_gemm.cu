// Inputs in half precision, sums in float.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k)
    sum += __half2float(__float2half(a[(size_t)row * K + k])) * __half2float(__float2half(b[(size_t)k * N + column]));
  c[(size_t)row * N + column] = sum;
}

void gemm(float* c, const float* a, const float* b, int M, int N, int K) {
  gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
