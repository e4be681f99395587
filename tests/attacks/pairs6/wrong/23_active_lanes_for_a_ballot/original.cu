#include <cuda_runtime.h>


// The columns of each row whose value has no divisor in common with m, in ascending order, then -1; count[r] says how many they are.
__device__ unsigned divisor(unsigned a, unsigned b) {
  while (b != 0) {
    unsigned rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

__global__ void coprime_kernel(int* column, int* count, const unsigned* x, int R, int C, int m) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int* out = column + (size_t)r * C;
  int found = 0;
  for (int c = 0; c < C; ++c)
    if (divisor(x[(size_t)r * C + c], (unsigned)m) == 1) out[found++] = c;
  count[r] = found;
  for (int c = found; c < C; ++c) out[c] = -1;
}

void coprime_columns(int* column, int* count, const unsigned* x, int R, int C, int m, cudaStream_t stream) {
  if (R <= 0) return;
  coprime_kernel<<<(unsigned)(((size_t)R + 127) / 128), 128, 0, stream>>>(column, count, x, R, C, m);
}
