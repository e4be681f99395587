#include <cuda_runtime.h>


// y[M] = A[M,N] x[N] in complex numbers; real and imaginary part are neighbours.
__global__ void cgemv_kernel(float2* y, const float2* A, const float2* x, int M, int N) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float re = 0.0f, im = 0.0f;
  for (int n = 0; n < N; ++n) {
    float2 a = A[(size_t)m * N + n], b = x[n];
    re += a.x * b.x - a.y * b.y;
    im += a.x * b.y + a.y * b.x;
  }
  y[m] = make_float2(re, im);
}

void cgemv(float2* y, const float2* A, const float2* x, int M, int N, cudaStream_t stream) {
  if (M <= 0) return;
  cgemv_kernel<<<(M + 63) / 64, 64, 0, stream>>>(y, A, x, M, N);
}
