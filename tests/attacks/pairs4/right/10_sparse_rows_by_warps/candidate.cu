#include <cuda_runtime.h>


// As many lanes per row as rows have elements on average, 4 to 32: values and columns of a row are read together, and
// x, which rows share, goes through the read-only cache.
template <int kLanes>
__global__ void __launch_bounds__(128)
    spmv_kernel(double* y, const double* values, const int* columns, const int* rows, const double* x, int M) {
  int m = (int)(((size_t)blockIdx.x * 128 + threadIdx.x) / kLanes), lane = threadIdx.x % kLanes;
  double s = 0.0;
  if (m < M) {
    int end = __ldg(&rows[m + 1]);
    for (int e = __ldg(&rows[m]) + lane; e < end; e += kLanes) s += __ldg(&values[e]) * __ldg(&x[__ldg(&columns[e])]);
  }
#pragma unroll
  for (int o = kLanes / 2; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (m < M && lane == 0) y[m] = s;
}

template <int kLanes>
void launch(double* y, const double* values, const int* columns, const int* rows, const double* x, int M,
            cudaStream_t stream) {
  int rows_per_block = 128 / kLanes;
  spmv_kernel<kLanes><<<(M + rows_per_block - 1) / rows_per_block, 128, 0, stream>>>(y, values, columns, rows, x, M);
}

void spmv_f64(double* y, const double* values, const int* columns, const int* rows, const double* x, int M, int N,
              int E, cudaStream_t stream) {
  if (M <= 0) return;
  if (E / M >= 32)
    launch<32>(y, values, columns, rows, x, M, stream);
  else if (E / M >= 12)
    launch<16>(y, values, columns, rows, x, M, stream);
  else
    launch<4>(y, values, columns, rows, x, M, stream);
}
