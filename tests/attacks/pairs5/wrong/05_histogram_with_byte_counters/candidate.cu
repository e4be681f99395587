#include <cuda_runtime.h>


__global__ void clear_bins(int* bins) { bins[threadIdx.x] = 0; }

// Every thread has counters of its own, a byte each, so that nothing contends; 16 KiB for 64 threads.
__global__ void __launch_bounds__(64) count_pixels(int* bins, const unsigned char* __restrict__ pixels, int n) {
  __shared__ __align__(4) unsigned char counters[256 * 64];  // [bin][thread]
  for (int e = threadIdx.x; e < 256 * 16; e += 64) ((unsigned*)counters)[e] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) ++counters[pixels[i] * 64 + threadIdx.x];
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += 64) {
    int sum = 0;
    for (int t = 0; t < 64; ++t) sum += counters[bin * 64 + (t + threadIdx.x) % 64];
    if (sum > 0) atomicAdd(&bins[bin], sum);
  }
}

// How often each value occurs in pixels[n].
void histogram256(int* bins, const unsigned char* pixels, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  if (n <= 0) return;
  int blocks = (n + 8191) / 8192;
  if (blocks > 64) blocks = 64;  // a block has 16 KiB to add up, so it should have enough pixels
  count_pixels<<<blocks, 64, 0, stream>>>(bins, pixels, n);
}
