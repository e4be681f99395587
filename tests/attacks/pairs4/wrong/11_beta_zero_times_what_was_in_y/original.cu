#include <cuda_runtime.h>


// y = alpha * A x + beta * y for a sparse A of M rows (CSR). As in BLAS, y need not hold numbers where beta is zero.
__global__ void spmv_kernel(float* y, const float* values, const int* columns, const int* rows, const float* x, int M,
                            float alpha, float beta) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float s = 0.0f;
  for (int e = rows[m]; e < rows[m + 1]; ++e) s += values[e] * x[columns[e]];
  y[m] = beta == 0.0f ? alpha * s : alpha * s + beta * y[m];
}

void spmv(float* y, const float* values, const int* columns, const int* rows, const float* x, int M, int N, int E,
          float alpha, float beta, cudaStream_t stream) {
  if (M <= 0) return;
  spmv_kernel<<<(M + 127) / 128, 128, 0, stream>>>(y, values, columns, rows, x, M, alpha, beta);
}
