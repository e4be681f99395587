#include <cuda_runtime.h>

#include <cstdint>

// y: inclusive sums of x, in 64 bits. ws: a number for every 256 elements, and one more.
__global__ void sums_kernel(long long* ws, const int* x, int n) {
  __shared__ long long s[256];
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) ws[blockIdx.x] = s[0];
}

__global__ void offsets_kernel(long long* ws, int parts) {
  long long sum = 0;
  for (int b = 0; b < parts; ++b) {
    long long own = ws[b];
    ws[b] = sum;
    sum += own;
  }
}

__global__ void scan_kernel(long long* y, const long long* ws, const int* x, int n) {
  __shared__ long long s[256];
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    long long add = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += add;
    __syncthreads();
  }
  if (i < n) y[i] = ws[blockIdx.x] + s[threadIdx.x];
}

void prefix_sum(long long* y, long long* ws, const int* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int parts = (int)(((long long)n + 255) / 256);
  sums_kernel<<<parts, 256, 0, stream>>>(ws, x, n);
  offsets_kernel<<<1, 1, 0, stream>>>(ws, parts);
  scan_kernel<<<parts, 256, 0, stream>>>(y, ws, x, n);
}
