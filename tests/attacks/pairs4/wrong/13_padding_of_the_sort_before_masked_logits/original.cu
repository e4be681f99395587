#include <cuda_fp16.h>
#include <cuda_runtime.h>


// order[R,C]: for every row of x[R,C] the columns by falling value, equal values by rising column. Values are compared
// by their total order (IEEE 754): -NaN < -inf < ... < -0 < +0 < ... < +inf < NaN.
__device__ int total_order(__half v) {
  int bits = (short)__half_as_short(v);
  return bits < 0 ? bits ^ 0x7fff : bits;
}

__global__ void argsort_kernel(int* order, const __half* x, int R, int C) {
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

void argsort_rows(int* order, const __half* x, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  argsort_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(order, x, R, C);
}
