#include <cuda_runtime.h>


// bins[256] of n bytes.
__global__ void clear_bins(unsigned* bins) { bins[threadIdx.x] = 0; }

__global__ void histogram_kernel(unsigned* bins, const unsigned char* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + x[i], 1u);
}

void byte_histogram(unsigned* bins, const unsigned char* x, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  histogram_kernel<<<n / 256 + (n % 256 != 0), 256, 0, stream>>>(bins, x, n);
}
