#include <cuda_runtime.h>


// out[i] = x[0] + ... + x[i], modulo 2^32; work is workspace of n / 1024 + 2 words of 64 bits.
__global__ void scan_blocks(unsigned* out, const unsigned* x, long long* work, int n) {
  __shared__ unsigned s[1024];
  int i = blockIdx.x * 1024 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    unsigned v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  if (i < n) out[i] = s[threadIdx.x];
  if (threadIdx.x == 1023) work[blockIdx.x] = s[1023];
}

__global__ void scan_sums(long long* work, int blocks) {
  unsigned sum = 0;
  for (int b = 0; b < blocks; ++b) {
    unsigned v = (unsigned)work[b];
    work[b] = sum;
    sum += v;
  }
}

__global__ void add_sums(unsigned* out, const long long* work, int n) {
  int i = blockIdx.x * 1024 + threadIdx.x;
  if (i < n) out[i] += (unsigned)work[blockIdx.x];
}

void prefix_sum(unsigned* out, const unsigned* x, long long* work, int n, cudaStream_t stream) {
  int blocks = n / 1024 + (n % 1024 != 0);
  scan_blocks<<<blocks, 1024, 0, stream>>>(out, x, work, n);
  scan_sums<<<1, 1, 0, stream>>>(work, blocks);
  add_sums<<<blocks, 1024, 0, stream>>>(out, work, n);
}
