#include <cuda_runtime.h>

#include <cstdint>

__global__ void clear_kernel(int* bins) { bins[threadIdx.x] = 0; }
__global__ void count_kernel(int* bins, const uint8_t* x, int n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1);
}

void count_bytes(int* bins, const uint8_t* x, int n, cudaStream_t stream) {
  clear_kernel<<<1, 256, 0, stream>>>(bins);
  if (n > 0) count_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(bins, x, n);
}
