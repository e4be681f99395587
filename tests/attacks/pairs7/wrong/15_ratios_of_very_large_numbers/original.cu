#include <cuda_runtime.h>



// y = a / b of any numbers of the format: energies in erg come up to 10^38.
__global__ void ratio_kernel(float* y, const float* a, const float* b, int n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] / b[i];
}

void ratio(float* y, const float* a, const float* b, int n, cudaStream_t stream) {
  if (n <= 0) return;
  ratio_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, a, b, n);
}
