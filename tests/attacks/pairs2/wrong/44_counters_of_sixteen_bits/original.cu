#include <cuda_runtime.h>


// bins[256] of n bytes; n up to 2^31 - 1.
__global__ void clear_bins(unsigned* bins) { bins[threadIdx.x] = 0; }

__global__ void histogram_kernel(unsigned* bins, const unsigned char* x, int n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    atomicAdd(bins + x[i], 1u);
}

void histogram(unsigned* bins, const unsigned char* x, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  histogram_kernel<<<64, 256, 0, stream>>>(bins, x, n);
}
