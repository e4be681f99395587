#include <cuda_runtime.h>


// A warp for each row: 32 columns at a time, whose places follow from the lanes that have found something.
__global__ void __launch_bounds__(256) coprime_kernel(int* column, int* count, const unsigned* x, int R, int C, int m) {
  size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= (size_t)R) return;
  int lane = threadIdx.x % 32, found = 0;
  const unsigned* row = x + r * C;
  int* out = column + r * C;
  for (int first = 0; first < C; first += 32) {
    int c = first + lane;
    unsigned a = 0, b = 0;
    if (c < C) {
      a = row[c];
      b = (unsigned)m;
    }
    while (b != 0) {
      unsigned rest = a % b;
      a = b;
      b = rest;
    }
    bool coprime = a == 1;
    if (coprime) {
      unsigned others = __activemask();
      out[found + __popc(others & ((1u << lane) - 1))] = c;
    }
    found += __popc(__ballot_sync(0xffffffffu, coprime));
  }
  if (lane == 0) count[r] = found;
  for (int c = found + lane; c < C; c += 32) out[c] = -1;
}

void coprime_columns(int* column, int* count, const unsigned* x, int R, int C, int m, cudaStream_t stream) {
  if (R <= 0) return;
  coprime_kernel<<<(unsigned)(((size_t)R + 7) / 8), 256, 0, stream>>>(column, count, x, R, C, m);
}
