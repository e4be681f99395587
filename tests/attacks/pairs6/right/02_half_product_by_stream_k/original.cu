#include <cuda_fp16.h>
#include <cuda_runtime.h>


// C[M,N] = A[M,K] B[K,N] of halves, summed in float.
__global__ void hgemm_kernel(__half* C, const __half* A, const __half* B, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __half2float(A[m * K + k]) * __half2float(B[(size_t)k * N + n]);
  C[i] = __float2half(acc);
}

void hgemm(__half* C, const __half* A, const __half* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  hgemm_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(C, A, B, M, N, K);
}
