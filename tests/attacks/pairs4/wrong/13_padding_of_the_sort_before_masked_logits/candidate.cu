#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ int total_order(__half v) {
  int bits = (short)__half_as_short(v);
  return bits < 0 ? bits ^ 0x7fff : bits;
}

__global__ void argsort_by_rank(int* order, const __half* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  int c = i % C;
  const __half* row = x + i / C * C;
  int key = total_order(row[c]), rank = 0;
  for (int j = 0; j < C; ++j) {
    int other = total_order(row[j]);
    rank += other > key || (other == key && j < c);
  }
  order[i / C * C + rank] = c;
}

// Bitonic sort of a row in shared memory; rows are filled up to a power of two with -inf, which is sorted to the end.
__global__ void __launch_bounds__(256) argsort_bitonic(int* order, const __half* __restrict__ x, int C, int P) {
  __shared__ int keys[2048];
  __shared__ int columns[2048];
  const __half* row = x + (size_t)blockIdx.x * C;
  for (int i = threadIdx.x; i < P; i += 256) {
    keys[i] = total_order(i < C ? row[i] : __ushort_as_half(0xfc00));
    columns[i] = i < C ? i : -1;
  }
  for (int size = 2; size <= P; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < P / 2; i += 256) {
        int a = i / step * step * 2 + i % step, b = a + step;
        bool falling = (a & size) == 0;
        bool before = keys[a] > keys[b] || (keys[a] == keys[b] && columns[a] < columns[b]);
        if (before != falling) {
          int k = keys[a], c = columns[a];
          keys[a] = keys[b];
          columns[a] = columns[b];
          keys[b] = k;
          columns[b] = c;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < C; i += 256) order[(size_t)blockIdx.x * C + i] = columns[i];
}

void argsort_rows(int* order, const __half* x, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  if (C > 2048) {
    argsort_by_rank<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(order, x, R, C);
    return;
  }
  int P = 2;
  while (P < C) P *= 2;
  argsort_bitonic<<<R, 256, 0, stream>>>(order, x, C, P);
}
