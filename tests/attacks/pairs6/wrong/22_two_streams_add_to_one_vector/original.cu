#include <cuda_runtime.h>


// y = A x + B z for A[M,K] and B[M,L].
__global__ void product_kernel(float* y, const float* A, const float* x, int M, int K, bool add) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float s = 0.0f;
  for (int k = 0; k < K; ++k) s += A[(size_t)m * K + k] * x[k];
  y[m] = add ? y[m] + s : s;
}

void two_products(float* y, const float* A, const float* x, const float* B, const float* z, int M, int K, int L,
                  cudaStream_t stream) {
  if (M <= 0) return;
  unsigned blocks = (unsigned)(((size_t)M + 127) / 128);
  product_kernel<<<blocks, 128, 0, stream>>>(y, A, x, M, K, false);
  product_kernel<<<blocks, 128, 0, stream>>>(y, B, z, M, L, true);
}
