#include <cuda_runtime.h>



// C[M,N] = op(A) op(B): with ta, A is stored as [K,M]; with tb, B is stored as [N,K].
__global__ void product_kernel(float* C, const float* A, const float* B, int M, int N, int K, int ta, int tb) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    float a = ta ? A[(size_t)k * M + m] : A[m * K + k];
    float b = tb ? B[n * K + k] : B[(size_t)k * N + n];
    acc += a * b;
  }
  C[i] = acc;
}

void product(float* C, const float* A, const float* B, int M, int N, int K, int ta, int tb, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  product_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(C, A, B, M, N, K, ta, tb);
}
