#include <cuda_runtime.h>


// order[R,C]: for every row of x[R,C] the columns by rising value, equal values by rising column.
__global__ void argsort_kernel(int* order, const int* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  int c = i % C;
  const int* row = x + i / C * C;
  int key = row[c], rank = 0;
  for (int j = 0; j < C; ++j) rank += row[j] < key || (row[j] == key && j < c);
  order[i / C * C + rank] = c;
}

void argsort_stable(int* order, const int* x, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  argsort_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(order, x, R, C);
}
