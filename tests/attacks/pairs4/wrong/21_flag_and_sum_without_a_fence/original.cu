#include <cuda_runtime.h>


// y[i] = x[0] + ... + x[i], modulo 2^32. ws has 4 * ceil(N / 256) + 4 words of workspace; the first ceil(N / 256) are
// used here.
__global__ void scan_blocks(unsigned* y, unsigned* ws, const unsigned* x, int N) {
  __shared__ unsigned s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < N ? x[i] : 0;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    unsigned v = t >= o ? s[t - o] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (i < N) y[i] = s[t];
  if (t == 255) ws[blockIdx.x] = s[255];
}

__global__ void scan_sums(unsigned* ws, int blocks) {
  unsigned sum = 0;
  for (int b = 0; b < blocks; ++b) {
    unsigned v = ws[b];
    ws[b] = sum;
    sum += v;
  }
}

__global__ void add_sums(unsigned* y, const unsigned* ws, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] += ws[blockIdx.x];
}

void inclusive_scan(unsigned* y, const unsigned* x, unsigned* ws, int N, cudaStream_t stream) {
  if (N <= 0) return;
  int blocks = (N + 255) / 256;
  scan_blocks<<<blocks, 256, 0, stream>>>(y, ws, x, N);
  scan_sums<<<1, 1, 0, stream>>>(ws, blocks);
  add_sums<<<blocks, 256, 0, stream>>>(y, ws, N);
}
