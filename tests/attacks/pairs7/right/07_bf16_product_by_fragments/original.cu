#include <cuda_bf16.h>
#include <cuda_runtime.h>


// C[M,N] = A[M,K] B[K,N], with sums in single precision.
__global__ void linear_kernel(float* C, const __nv_bfloat16* A, const __nv_bfloat16* B, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __bfloat162float(A[m * K + k]) * __bfloat162float(B[(size_t)k * N + n]);
  C[i] = acc;
}

void linear(float* C, const __nv_bfloat16* A, const __nv_bfloat16* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  linear_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(C, A, B, M, N, K);
}
