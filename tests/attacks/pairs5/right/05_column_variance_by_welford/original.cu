#include <cuda_runtime.h>


// Mean and unbiased variance of the columns of x[N,D]; the variance of a single row is 0.
__global__ void column_variance_kernel(float* mean, float* variance, const float* x, int N, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= D) return;
  float s = 0.0f;
  for (int n = 0; n < N; ++n) s += x[(size_t)n * D + d];
  float m = s / N, q = 0.0f;
  for (int n = 0; n < N; ++n) {
    float e = x[(size_t)n * D + d] - m;
    q += e * e;
  }
  mean[d] = m;
  variance[d] = N > 1 ? q / (N - 1) : 0.0f;
}

void column_variance(float* mean, float* variance, const float* x, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  column_variance_kernel<<<(D + 63) / 64, 64, 0, stream>>>(mean, variance, x, N, D);
}
