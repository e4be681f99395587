#include <cuda_runtime.h>

#include <cstdint>

// y = A x + beta y; where beta is 0, y is not read.
__global__ void csr_kernel(float* y, const int* begin, const int* col, const float* a, const float* x, int R, float beta) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0;
  for (int j = begin[r]; j < begin[r + 1]; ++j) sum += a[j] * x[col[j]];
  y[r] = beta == 0 ? sum : sum + beta * y[r];
}

void csr_matvec(float* y, const int* begin, const int* col, const float* a, const float* x, int R, int C, int nnz, float beta, cudaStream_t stream) {
  (void)C, (void)nnz;
  if (R > 0) csr_kernel<<<(unsigned)(((long long)R + 127) / 128), 128, 0, stream>>>(y, begin, col, a, x, R, beta);
}
