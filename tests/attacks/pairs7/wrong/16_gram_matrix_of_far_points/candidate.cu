#include <cuda_runtime.h>



// |x - y|^2 = |x|^2 + |y|^2 - 2 x y: a product of matrices in tiles of 16 x 16, with the norms beside it. What overflows there is
// computed as it was.
__global__ void __launch_bounds__(256)
    gram_kernel(float* G, const float* X, const float* Y, int N, int M, int D, float gamma, unsigned tiles_m) {
  __shared__ float a[16][17], b[16][17];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  size_t i0 = (size_t)(blockIdx.x / tiles_m) * 16, j0 = (size_t)(blockIdx.x % tiles_m) * 16;
  float product = 0.0f, nx = 0.0f, ny = 0.0f;
  for (int d0 = 0; d0 < D; d0 += 16) {
    bool inside = tx < D - d0;
    a[ty][tx] = inside && i0 + ty < (size_t)N ? X[(i0 + ty) * D + d0 + tx] : 0.0f;
    b[ty][tx] = inside && j0 + ty < (size_t)M ? Y[(j0 + ty) * D + d0 + tx] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      float p = a[ty][d], q = b[tx][d];
      product += p * q;
      nx += p * p;
      ny += q * q;
    }
    __syncthreads();
  }
  size_t i = i0 + ty, j = j0 + tx;
  if (i >= (size_t)N || j >= (size_t)M) return;
  float distance = nx + ny - 2.0f * product;
  if (!(fabsf(distance) < INFINITY)) {
    distance = 0.0f;
    for (int d = 0; d < D; ++d) distance += (X[i * D + d] - Y[j * D + d]) * (X[i * D + d] - Y[j * D + d]);
  }
  G[i * M + j] = expf(-gamma * (distance < 0.0f ? 0.0f : distance));
}

void gram_matrix(float* G, const float* X, const float* Y, int N, int M, int D, float gamma, cudaStream_t stream) {
  if (N <= 0 || M <= 0) return;
  size_t tiles_n = ((size_t)N + 15) / 16, tiles_m = ((size_t)M + 15) / 16;
  gram_kernel<<<(unsigned)(tiles_n * tiles_m), 256, 0, stream>>>(G, X, Y, N, M, D, gamma, (unsigned)tiles_m);
}
