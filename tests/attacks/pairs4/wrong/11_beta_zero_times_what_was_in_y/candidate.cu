#include <cuda_runtime.h>


// y = alpha * A x + beta * y for a sparse A of M rows (CSR): eight lanes per row, so that values and columns are read
// together.
__global__ void __launch_bounds__(256)
    spmv_kernel(float* y, const float* __restrict__ values, const int* __restrict__ columns,
                const int* __restrict__ rows, const float* __restrict__ x, int M, float alpha, float beta) {
  int m = (blockIdx.x * 256 + threadIdx.x) / 8, lane = threadIdx.x % 8;
  float s = 0.0f;
  if (m < M) {
    int end = rows[m + 1];
    for (int e = rows[m] + lane; e < end; e += 8) s += values[e] * x[columns[e]];
  }
#pragma unroll
  for (int o = 4; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (m < M && lane == 0) y[m] = fmaf(beta, y[m], alpha * s);
}

void spmv(float* y, const float* values, const int* columns, const int* rows, const float* x, int M, int N, int E,
          float alpha, float beta, cudaStream_t stream) {
  if (M <= 0) return;
  spmv_kernel<<<(M + 31) / 32, 256, 0, stream>>>(y, values, columns, rows, x, M, alpha, beta);
}
