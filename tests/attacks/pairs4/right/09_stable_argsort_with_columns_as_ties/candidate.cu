#include <cuda_runtime.h>


// For rows of more than 4096 elements.
__global__ void argsort_by_rank(int* order, const int* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  int c = i % C;
  const int* row = x + i / C * C;
  int key = row[c], rank = 0;
  for (int j = 0; j < C; ++j) rank += row[j] < key || (row[j] == key && j < c);
  order[i / C * C + rank] = c;
}

// Bitonic sort of 64-bit numbers: the key above, its sign turned, the column below, so that no two are equal and the
// result is that of a stable sort. The padding is larger than all: its column is behind the last one.
__global__ void __launch_bounds__(256) argsort_bitonic(int* order, const int* __restrict__ x, int C, int P) {
  extern __shared__ unsigned long long items[];
  const int* row = x + (size_t)blockIdx.x * C;
  for (int i = threadIdx.x; i < P; i += 256)
    items[i] = i < C ? (unsigned long long)((unsigned)row[i] ^ 0x80000000u) << 32 | (unsigned)i : ~0ull;
  for (int size = 2; size <= P; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < P / 2; i += 256) {
        int a = i / step * step * 2 + i % step, b = a + step;
        unsigned long long u = items[a], v = items[b];
        if ((u > v) == ((a & size) == 0)) {
          items[a] = v;
          items[b] = u;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < C; i += 256) order[(size_t)blockIdx.x * C + i] = (int)(unsigned)items[i];
}

void argsort_stable(int* order, const int* x, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  if (C > 4096) {
    argsort_by_rank<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(order, x, R, C);
    return;
  }
  int P = 2;
  while (P < C) P *= 2;
  argsort_bitonic<<<R, 256, P * sizeof(unsigned long long), stream>>>(order, x, C, P);
}
