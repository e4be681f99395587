#include <cuda_runtime.h>


__global__ void count_positive(int* offsets, const float* x, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n && x[i] > 0.0f ? 1 : 0;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) offsets[blockIdx.x] = part[0];
}

__global__ void scan_counts(int* offsets, int* count, int blocks) {
  int running = 0;
  for (int b = 0; b < blocks; ++b) {
    int c = offsets[b];
    offsets[b] = running;
    running += c;
  }
  *count = running;
}

__global__ void write_positive(float* out, const float* x, const int* offsets, const int* count, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  int keep = i < n && x[i] > 0.0f ? 1 : 0;
  part[threadIdx.x] = keep;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    int before = threadIdx.x >= o ? part[threadIdx.x - o] : 0;
    __syncthreads();
    part[threadIdx.x] += before;
    __syncthreads();
  }
  if (keep) out[offsets[blockIdx.x] + part[threadIdx.x] - 1] = x[i];
  if (i >= *count && i < n) out[i] = 0.0f;
}

// out: the positive elements of x in their order, then zeros; count: how many there are.
void compact_positive(float* out, int* count, const float* x, int* offsets, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = (n + 255) / 256;
  count_positive<<<blocks, 256, 0, stream>>>(offsets, x, n);
  scan_counts<<<1, 1, 0, stream>>>(offsets, count, blocks);
  write_positive<<<blocks, 256, 0, stream>>>(out, x, offsets, count, n);
}
