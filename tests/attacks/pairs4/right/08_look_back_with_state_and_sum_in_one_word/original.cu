#include <cuda_runtime.h>


// Offsets of lists from their lengths: offsets[0] = 0, offsets[i + 1] = offsets[i] + counts[i] modulo 2^32, N + 1 in
// all. ws: workspace of 4 * ceil(N / 256) + 4 words, aligned to 8 bytes; the first ceil(N / 256) are used here.
__global__ void scan_blocks(unsigned* offsets, unsigned* ws, const unsigned* counts, int N) {
  __shared__ unsigned s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < N ? counts[i] : 0;
  __syncthreads();
  for (int o = 1; o < 256; o *= 2) {
    unsigned v = t >= o ? s[t - o] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (i < N) offsets[i + 1] = s[t];
  if (t == 255) ws[blockIdx.x] = s[255];
}

__global__ void scan_sums(unsigned* offsets, unsigned* ws, int blocks) {
  unsigned sum = 0;
  for (int b = 0; b < blocks; ++b) {
    unsigned v = ws[b];
    ws[b] = sum;
    sum += v;
  }
  offsets[0] = 0;
}

__global__ void add_sums(unsigned* offsets, const unsigned* ws, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) offsets[i + 1] += ws[blockIdx.x];
}

void list_offsets(unsigned* offsets, const unsigned* counts, unsigned* ws, int N, cudaStream_t stream) {
  if (N < 0) return;
  int blocks = (N + 255) / 256;
  if (N > 0) scan_blocks<<<blocks, 256, 0, stream>>>(offsets, ws, counts, N);
  scan_sums<<<1, 1, 0, stream>>>(offsets, ws, blocks);
  if (N > 0) add_sums<<<blocks, 256, 0, stream>>>(offsets, ws, N);
}
