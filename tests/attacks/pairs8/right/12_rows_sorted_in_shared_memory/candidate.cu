#include <cuda_runtime.h>

#include <cstdint>

// Short rows: a bitonic network of the next power of two in shared memory, filled up with the largest integer. Others count as before, against a part of
// the row in shared memory.
constexpr int kMost = 1024;

__global__ void __launch_bounds__(256) network_kernel(int* y, const int* x, int C, int width) {
  __shared__ int s[kMost];
  size_t row = (size_t)blockIdx.x * C;
  for (int c = threadIdx.x; c < width; c += 256) s[c] = c < C ? x[row + c] : INT32_MAX;
  for (int size = 2; size <= width; size *= 2)
    for (int apart = size / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (int p = threadIdx.x; p < width / 2; p += 256) {
        int a = 2 * apart * (p / apart) + p % apart, b = a + apart;
        bool rises = (a & size) == 0;
        int u = s[a], v = s[b];
        if ((u > v) == rises) s[a] = v, s[b] = u;
      }
    }
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += 256) y[row + c] = s[c];
}

__global__ void __launch_bounds__(256) count_kernel(int* y, const int* x, int C, unsigned across) {
  __shared__ int part[256];
  size_t row = (size_t)(blockIdx.x / across) * C;
  long long c = (long long)(blockIdx.x % across) * 256 + threadIdx.x;
  int key = c < C ? x[row + c] : 0, rank = 0;
  for (long long first = 0; first < C; first += 256) {
    __syncthreads();
    if (first + threadIdx.x < C) part[threadIdx.x] = x[row + first + threadIdx.x];
    __syncthreads();
    int most = C - first < 256 ? (int)(C - first) : 256;
    for (int j = 0; j < most; ++j) rank += part[j] < key || (part[j] == key && first + j < c);
  }
  if (c < C) y[row + rank] = key;
}

void sort_rows(int* y, const int* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  if (C <= kMost) {
    int width = 1;
    while (width < C) width *= 2;
    network_kernel<<<R, 256, 0, stream>>>(y, x, C, width);
  } else {
    unsigned across = (unsigned)(((long long)C + 255) / 256);
    count_kernel<<<across * (unsigned)R, 256, 0, stream>>>(y, x, C, across);
  }
}
