#include <cuda_runtime.h>


// y = A x for a sparse A of M rows (CSR), in double precision.
__global__ void spmv_kernel(double* y, const double* values, const int* columns, const int* rows, const double* x,
                            int M) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  double s = 0.0;
  for (int e = rows[m]; e < rows[m + 1]; ++e) s += values[e] * x[columns[e]];
  y[m] = s;
}

void spmv_f64(double* y, const double* values, const int* columns, const int* rows, const double* x, int M, int N,
              int E, cudaStream_t stream) {
  if (M <= 0) return;
  spmv_kernel<<<(M + 127) / 128, 128, 0, stream>>>(y, values, columns, rows, x, M);
}
