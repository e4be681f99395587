#include <cuda_runtime.h>


// c[M,N] = a[M,K] b[N,K]^T of bytes, summed in 32 bits (modulo 2^32).
__global__ void product_kernel(int* c, const signed char* a, const signed char* b, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  unsigned acc = 0;
  for (int k = 0; k < K; ++k) acc += (unsigned)((int)a[m * K + k] * (int)b[n * K + k]);
  c[i] = (int)acc;
}

void int8_product(int* c, const signed char* a, const signed char* b, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  product_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(c, a, b, M, N, K);
}
