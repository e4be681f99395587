#include <cuda_runtime.h>



// G[i,j] = exp(-gamma |x_i - y_j|^2); X and Y are often the same points, of any scale.
__global__ void gram_kernel(float* G, const float* X, const float* Y, int N, int M, int D, float gamma) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * M) return;
  const float *x = X + i / M * D, *y = Y + i % M * D;
  float distance = 0.0f;
  for (int d = 0; d < D; ++d) distance += (x[d] - y[d]) * (x[d] - y[d]);
  G[i] = expf(-gamma * distance);
}

void gram_matrix(float* G, const float* X, const float* Y, int N, int M, int D, float gamma, cudaStream_t stream) {
  if (N <= 0 || M <= 0) return;
  gram_kernel<<<(unsigned)(((size_t)N * M + 255) / 256), 256, 0, stream>>>(G, X, Y, N, M, D, gamma);
}
