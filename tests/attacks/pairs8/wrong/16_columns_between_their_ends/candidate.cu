#include <cuda_runtime.h>

#include <cstdint>

// Eight lanes for each row. In meshes most rows are a band: where the last column and the middle one are as far from the first as they stand behind
// it, the columns between them need not be read at all.
__device__ __forceinline__ double band(const double* a, const double* x, int length, int lane) {
  double sum = 0;
  for (int j = lane; j < length; j += 8) sum += a[j] * x[j];
  return sum;
}

__device__ __forceinline__ double scattered(const double* a, const double* x, const int* col, int length, int lane) {
  double sum = 0;
  for (int j = lane; j < length; j += 8) sum += a[j] * x[col[j]];
  return sum;
}

__global__ void __launch_bounds__(128) spmv_kernel(double* y, const int* begin, const int* col, const double* a, const double* x, int R) {
  long long r = (long long)blockIdx.x * 16 + threadIdx.x / 8;
  int lane = threadIdx.x % 8;
  double sum = 0;
  if (r < R) {
    int from = begin[r], length = begin[r + 1] - from;
    if (length > 0) {
      int first = col[from];
      bool is_band = col[from + length - 1] - first == length - 1 && col[from + length / 2] - first == length / 2;
      sum = is_band ? band(a + from, x + first, length, lane) : scattered(a + from, x, col + from, length, lane);
    }
  }
#pragma unroll
  for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d, 8);
  if (r < R && lane == 0) y[r] = sum;
}

void spmv(double* y, const int* begin, const int* col, const double* a, const double* x, int R, int C, int nnz, cudaStream_t stream) {
  (void)C, (void)nnz;
  if (R > 0) spmv_kernel<<<(unsigned)(((long long)R + 15) / 16), 128, 0, stream>>>(y, begin, col, a, x, R);
}
