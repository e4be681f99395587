#include <cuda_runtime.h>


__global__ void clear_counts(int* counts, int B) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < B) counts[b] = 0;
}

__global__ void count_values(int* counts, const int* x, int n, int B) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)n) return;
  int b = x[i];
  if (b >= 0 && b < B) atomicAdd(&counts[b], 1);
}

// How often each of 0 ... B - 1 occurs in x; other values are left out.
void bincount(int* counts, const int* x, int n, int B, cudaStream_t stream) {
  if (B <= 0) return;
  clear_counts<<<(B + 255) / 256, 256, 0, stream>>>(counts, B);
  if (n <= 0) return;
  count_values<<<(n + 255) / 256, 256, 0, stream>>>(counts, x, n, B);
}
