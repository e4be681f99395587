#include <cuda_runtime.h>


// Sorts rows of 32 integers, by rank.
__global__ void sort32_kernel(int* out, const int* x, int R) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 32) return;
  const int* row = x + i / 32 * 32;
  int v = x[i], rank = 0;
  for (int j = 0; j < 32; ++j) rank += row[j] < v || (row[j] == v && j < i % 32);
  out[i / 32 * 32 + rank] = v;
}
