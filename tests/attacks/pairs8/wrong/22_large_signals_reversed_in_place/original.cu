#include <cuda_runtime.h>

#include <cstdint>

// y: x from its end to its beginning; y may be x.
__global__ void reverse_kernel(double* y, const double* x, int n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ((long long)n + 1) / 2) return;
  double a = x[i], b = x[n - 1 - i];
  y[i] = b;
  y[n - 1 - i] = a;
}

void reverse_signal(double* y, const double* x, int n, cudaStream_t stream) {
  if (n > 0) reverse_kernel<<<(unsigned)(((long long)n / 2 + 256) / 256), 256, 0, stream>>>(y, x, n);
}
