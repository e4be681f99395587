#include <cuda_runtime.h>


// Histogram of x[N] in bins of equal width from low on: bin i has low + i * width <= v < low + (i + 1) * width.
// What is outside of all bins, and what is no number, is not counted.
__global__ void clear_kernel(int* counts, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bins) counts[i] = 0;
}

__global__ void histogram_kernel(int* counts, const float* x, int N, int bins, float low, float width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float place = floorf((x[i] - low) / width);
  if (place >= 0.0f && place < (float)bins) atomicAdd(&counts[(int)place], 1);
}

void histogram(int* counts, const float* x, int N, int bins, float low, float width, cudaStream_t stream) {
  if (bins <= 0) return;
  clear_kernel<<<(bins + 255) / 256, 256, 0, stream>>>(counts, bins);
  if (N > 0) histogram_kernel<<<(N + 255) / 256, 256, 0, stream>>>(counts, x, N, bins, low, width);
}
