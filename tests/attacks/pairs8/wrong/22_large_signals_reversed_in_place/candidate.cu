#include <cuda_runtime.h>

#include <cstdint>

// Both ends at once, so that y may be x.
__global__ void swap_kernel(double* y, const double* x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  double a = x[i], b = x[n - 1 - i];
  y[i] = b;
  y[n - 1 - i] = a;
}

// A stream of large signals: every block reads 2048 numbers from one end to the other and writes them in order, by way of shared memory, in
// whole lines of 128 bytes on both sides.
__global__ void __launch_bounds__(256) large_kernel(double* y, const double* x, int n) {
  __shared__ double tile[2048];
  long long first = (long long)blockIdx.x * 2048;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    int k = j * 256 + threadIdx.x;
    if (first + k < n) tile[k] = __ldcs(x + first + k);
  }
  __syncthreads();
  int most = n - first < 2048 ? (int)(n - first) : 2048;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    int k = j * 256 + threadIdx.x;
    if (k < most) __stcs(y + (n - first - most) + k, tile[most - 1 - k]);
  }
}

void reverse_signal(double* y, const double* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  if (n >= 400000)
    large_kernel<<<(unsigned)(((long long)n + 2047) / 2048), 256, 0, stream>>>(y, x, n);
  else
    swap_kernel<<<((n + 1) / 2 + 255) / 256, 256, 0, stream>>>(y, x, n);
}
