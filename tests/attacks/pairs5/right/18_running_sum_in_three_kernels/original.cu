#include <cuda_runtime.h>


__global__ void tile_sums(float* sums, const float* x, int n) {
  __shared__ float part[256];
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < (size_t)n ? x[i] : 0.0f;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void scan_sums(float* sums, int tiles) {
  float running = 0.0f;
  for (int b = 0; b < tiles; ++b) {
    float s = sums[b];
    sums[b] = running;
    running += s;
  }
}

__global__ void scan_tiles(float* y, const float* x, const float* sums, int n) {
  __shared__ float part[256];
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < (size_t)n ? x[i] : 0.0f;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    float before = threadIdx.x >= o ? part[threadIdx.x - o] : 0.0f;
    __syncthreads();
    part[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < (size_t)n) y[i] = sums[blockIdx.x] + part[threadIdx.x];
}

// y[i] = x[0] + ... + x[i]; sums is memory to work in.
void cumsum(float* y, const float* x, float* sums, int n, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned tiles = (unsigned)(((size_t)n + 255) / 256);
  tile_sums<<<tiles, 256, 0, stream>>>(sums, x, n);
  scan_sums<<<1, 1, 0, stream>>>(sums, (int)tiles);
  scan_tiles<<<tiles, 256, 0, stream>>>(y, x, sums, n);
}
