#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Counts of each byte value among n bytes; counts (256) is cleared first.
__global__ void histogram_kernel(unsigned* counts, const unsigned char* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[data[i]], 1u);
}

void histogram(unsigned* counts, const unsigned char* data, int n) {
  cudaMemset(counts, 0, 256 * sizeof(unsigned));
  if (n > 0) histogram_kernel<<<(n + 255) / 256, 256>>>(counts, data, n);
}
