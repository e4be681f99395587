#include <cuda_runtime.h>

#include <cstdint>

// y[i]: the sum of what is before x[i]; y[n]: of all, in 32 bits that wrap around.
__global__ void sums_kernel(int* ws, const int* x, int n) {
  __shared__ int s[256];
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) ws[blockIdx.x] = s[0];
}
__global__ void parts_kernel(int* ws, int parts) {
  unsigned sum = 0;
  for (int p = 0; p < parts; ++p) {
    unsigned own = ws[p];
    ws[p] = (int)sum;
    sum += own;
  }
}
__global__ void scan_kernel(int* y, const int* ws, const int* x, int n) {
  __shared__ unsigned s[256];
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  unsigned own = i < n ? x[i] : 0;
  s[threadIdx.x] = own;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    unsigned add = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += add;
    __syncthreads();
  }
  if (i < n) y[i] = (int)(ws[blockIdx.x] + s[threadIdx.x] - own);
  if (i == (long long)n - 1) y[n] = (int)(ws[blockIdx.x] + s[threadIdx.x]);
}

void exclusive_offsets(int* y, int* ws, const int* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int parts = (int)(((long long)n + 255) / 256);
  sums_kernel<<<parts, 256, 0, stream>>>(ws, x, n);
  parts_kernel<<<1, 1, 0, stream>>>(ws, parts);
  scan_kernel<<<parts, 256, 0, stream>>>(y, ws, x, n);
}
