#include <cuda_runtime.h>


// bins[256] of n bytes; n up to 2^31 - 1.
__global__ void clear_bins(unsigned* bins) { bins[threadIdx.x] = 0; }

__global__ void histogram_kernel(unsigned* bins, const unsigned char* x, int n) {
  __shared__ unsigned pairs[128];  // two counters of 16 bits in a word
  if (threadIdx.x < 128) pairs[threadIdx.x] = 0;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    unsigned v = x[i];
    atomicAdd(pairs + (v >> 1), v & 1 ? 65536u : 1u);
  }
  __syncthreads();
  unsigned count = threadIdx.x & 1 ? pairs[threadIdx.x >> 1] >> 16 : pairs[threadIdx.x >> 1] & 65535u;
  if (count) atomicAdd(bins + threadIdx.x, count);
}

void histogram(unsigned* bins, const unsigned char* x, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  histogram_kernel<<<64, 256, 0, stream>>>(bins, x, n);
}
