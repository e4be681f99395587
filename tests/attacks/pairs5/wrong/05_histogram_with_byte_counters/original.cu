#include <cuda_runtime.h>


__global__ void clear_bins(int* bins) { bins[threadIdx.x] = 0; }

__global__ void count_pixels(int* bins, const unsigned char* pixels, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[pixels[i]], 1);
}

// How often each value occurs in pixels[n].
void histogram256(int* bins, const unsigned char* pixels, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  if (n <= 0) return;
  count_pixels<<<(n + 255) / 256, 256, 0, stream>>>(bins, pixels, n);
}
