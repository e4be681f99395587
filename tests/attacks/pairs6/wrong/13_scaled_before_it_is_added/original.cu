#include <cuda_runtime.h>


// y = alpha * x + beta * y. x may be y (solvers scale a vector that way).
__global__ void axpby_kernel(float* y, const float* x, size_t n, float alpha, float beta) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + beta * y[i];
}

void axpby(float* y, const float* x, int n, float alpha, float beta, cudaStream_t stream) {
  if (n <= 0) return;
  axpby_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, x, (size_t)n, alpha, beta);
}
