#include <cuda_runtime.h>



// How often each byte occurs.
__global__ void bytes_kernel(int* counts, const unsigned char* x, int n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[x[i]], 1);
}

void byte_histogram(int* counts, const unsigned char* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
  if (n > 0) bytes_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(counts, x, n);
}
