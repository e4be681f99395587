#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A quarter of the sum over K for each element; blockIdx.y says which.
__global__ void partial_products(float* work, const __half* a, const __half* b, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  int quarter = (K + 3) / 4, begin = blockIdx.y * quarter, end = begin + quarter < K ? begin + quarter : K;
  float acc = 0.0f;
  for (int k = begin; k < end; ++k) acc += __half2float(a[m * K + k]) * __half2float(b[(size_t)k * N + n]);
  work[blockIdx.y * (size_t)M * N + i] = acc;
}

__global__ void add_partials(__half* c, const float* work, int M, int N) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, total = (size_t)M * N;
  if (i < total) c[i] = __float2half(work[i] + work[total + i] + work[2 * total + i] + work[3 * total + i]);
}

// c[M,N] = a[M,K] * b[K,N]; work is memory to work in.
void hgemm_split(__half* c, const __half* a, const __half* b, float* work, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  unsigned blocks = (unsigned)(((size_t)M * N + 255) / 256);
  partial_products<<<dim3(blocks, 4), 256, 0, stream>>>(work, a, b, M, N, K);
  add_partials<<<blocks, 256, 0, stream>>>(c, work, M, N);
}
