#include <cuda_fp16.h>
#include <cuda_runtime.h>


// c[m,n] = sum over k of a[m,k] * b[n,k], exact, times the scales of row and column; K is at most 131071.
__global__ void gemm_kernel(__half* c, const signed char* a, const signed char* b, const float* row_scale,
                            const float* column_scale, int M, int N, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)M * N) return;
  size_t m = i / N, n = i % N;
  int acc = 0;
  for (int k = 0; k < K; ++k) acc += a[m * K + k] * b[n * K + k];
  c[i] = __float2half((float)acc * row_scale[m] * column_scale[n]);
}

void int8_gemm(__half* c, const signed char* a, const signed char* b, const float* row_scale, const float* column_scale,
               int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  gemm_kernel<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(c, a, b, row_scale, column_scale, M, N, K);
}
