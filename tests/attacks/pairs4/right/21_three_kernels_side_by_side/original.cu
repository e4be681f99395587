#include <cuda_runtime.h>


// Of x[M,N]: the sums of its rows, the sums of its columns, and its transpose.
__global__ void row_sums(float* rows, const float* x, int M, int N) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float s = 0.0f;
  for (int n = 0; n < N; ++n) s += x[(size_t)m * N + n];
  rows[m] = s;
}

__global__ void column_sums(float* columns, const float* x, int M, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float s = 0.0f;
  for (int m = 0; m < M; ++m) s += x[(size_t)m * N + n];
  columns[n] = s;
}

__global__ void transpose(float* xt, const float* x, int M, int N) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)M * N) xt[i % N * M + i / N] = x[i];
}

void marginals(float* rows, float* columns, float* xt, const float* x, int M, int N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  row_sums<<<(M + 63) / 64, 64, 0, stream>>>(rows, x, M, N);
  column_sums<<<(N + 63) / 64, 64, 0, stream>>>(columns, x, M, N);
  transpose<<<(unsigned)(((size_t)M * N + 127) / 128), 128, 0, stream>>>(xt, x, M, N);
}
