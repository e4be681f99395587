#include <cuda_runtime.h>


// d2[n,m] = sum over d of (a[n,d] - b[m,d])^2
__global__ void distance_kernel(float* d2, const float* a, const float* b, int N, int M, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * M) return;
  size_t n = i / M, m = i % M;
  float s = 0.0f;
  for (int d = 0; d < D; ++d) {
    float e = a[n * D + d] - b[m * D + d];
    s += e * e;
  }
  d2[i] = s;
}

void pairwise_distance(float* d2, const float* a, const float* b, int N, int M, int D, cudaStream_t stream) {
  if (N <= 0 || M <= 0) return;
  distance_kernel<<<(unsigned)(((size_t)N * M + 255) / 256), 256, 0, stream>>>(d2, a, b, N, M, D);
}
