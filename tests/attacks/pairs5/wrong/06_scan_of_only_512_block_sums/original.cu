#include <cuda_runtime.h>


__global__ void sum_blocks(int* sums, const int* counts, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? counts[i] : 0;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void scan_sums(int* sums, int* total, int blocks) {
  int running = 0;
  for (int b = 0; b < blocks; ++b) {
    int s = sums[b];
    sums[b] = running;
    running += s;
  }
  *total = running;
}

__global__ void scan_blocks(int* out, const int* counts, const int* sums, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  int v = i < n ? counts[i] : 0;
  part[threadIdx.x] = v;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    int before = threadIdx.x >= o ? part[threadIdx.x - o] : 0;
    __syncthreads();
    part[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) out[i] = sums[blockIdx.x] + part[threadIdx.x] - v;
}

// out[i] = counts[0] + ... + counts[i-1], out[n] the sum of all.
void exclusive_scan(int* out, const int* counts, int* sums, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = (n + 255) / 256;
  sum_blocks<<<blocks, 256, 0, stream>>>(sums, counts, n);
  scan_sums<<<1, 1, 0, stream>>>(sums, out + n, blocks);
  scan_blocks<<<blocks, 256, 0, stream>>>(out, counts, sums, n);
}
