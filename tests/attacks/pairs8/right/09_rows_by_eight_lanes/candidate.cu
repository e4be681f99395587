#include <cuda_runtime.h>

#include <cstdint>

// kLanes lanes for each row, as many as a row is long on average.
template <int kLanes>
__global__ void __launch_bounds__(128) csr_kernel(float* y, const int* __restrict__ begin, const int* __restrict__ col, const float* __restrict__ a,
                                                  const float* __restrict__ x, int R, float beta) {
  long long r = ((long long)blockIdx.x * 128 + threadIdx.x) / kLanes;
  int lane = threadIdx.x % kLanes;
  bool is_row = r < R;
  float even = 0, odd = 0;
  if (is_row) {
    int end = begin[r + 1];
    long long j = (long long)begin[r] + lane;
    for (; j + kLanes < end; j += 2 * kLanes) {
      even += a[j] * x[col[j]];
      odd += a[j + kLanes] * x[col[j + kLanes]];
    }
    if (j < end) even += a[j] * x[col[j]];
  }
  float sum = even + odd;
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d, kLanes);
  if (is_row && lane == 0) y[r] = beta == 0 ? sum : fmaf(beta, y[r], sum);
}

template <int kLanes>
void launch(float* y, const int* begin, const int* col, const float* a, const float* x, int R, float beta, cudaStream_t stream) {
  long long threads = (long long)R * kLanes;
  csr_kernel<kLanes><<<(unsigned)((threads + 127) / 128), 128, 0, stream>>>(y, begin, col, a, x, R, beta);
}

void csr_matvec(float* y, const int* begin, const int* col, const float* a, const float* x, int R, int C, int nnz, float beta, cudaStream_t stream) {
  (void)C;
  if (R <= 0) return;
  if (nnz / R >= 8) launch<8>(y, begin, col, a, x, R, beta, stream);
  else launch<2>(y, begin, col, a, x, R, beta, stream);
}
