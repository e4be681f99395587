// Counts of each byte value. `counts` (256) is cleared first.
#include "../include/common.cuh"

#define NUM_BINS 256

__global__ void histogram_kernel(unsigned int* counts, const unsigned char* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&counts[data[i]], 1u);
  }
}

void histogram(unsigned int* counts, const unsigned char* data, int n) {
  CUDA_CHECK(cudaMemset(counts, 0, NUM_BINS * sizeof(unsigned int)));
  const int block_size = 256;
  histogram_kernel<<<ceil_div(n, block_size), block_size>>>(counts, data, n);
  LAUNCH_CHECK();
}
