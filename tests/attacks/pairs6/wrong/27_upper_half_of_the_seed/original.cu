#include <cuda_runtime.h>


// Dropout: y = x / keep where a number that is drawn from seed and place is below keep, else 0. The backward pass, in another file, draws
// the same numbers again from the same seed.
__device__ unsigned long long mixed(unsigned long long z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

__global__ void dropout_kernel(float* y, const float* x, size_t n, unsigned long long seed, float keep) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long drawn = mixed(seed + 0x9e3779b97f4a7c15ull * (i + 1));
  y[i] = (float)(drawn >> 40) * 0x1p-24f < keep ? x[i] / keep : 0.0f;
}

void dropout(float* y, const float* x, int n, long long seed, float keep, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned blocks = (unsigned)(((size_t)n + 255) / 256);
  dropout_kernel<<<blocks, 256, 0, stream>>>(y, x, (size_t)n, (unsigned long long)seed, keep);
}
