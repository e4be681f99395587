// Sorts every row ascending and says where each value came from; equal values keep their order.
// Bitonic network in shared memory, one block per row, rows of up to 4096 values. No NaNs please.
#include <cuda_runtime.h>

#include <climits>
#include <cmath>

namespace {

template <int P>
struct Slots {
  float key[P];
  int from[P];

  __device__ bool before(int a, int b) const {
    return key[a] < key[b] || (key[a] == key[b] && from[a] < from[b]);
  }

  __device__ void exchange(int a, int b) {
    const float k = key[a];
    key[a] = key[b];
    key[b] = k;
    const int f = from[a];
    from[a] = from[b];
    from[b] = f;
  }
};

template <int P, int THREADS>
__global__ void __launch_bounds__(THREADS) sort_row(const float* __restrict__ x, float* __restrict__ values,
                                                    int* __restrict__ order, int cols) {
  __shared__ Slots<P> s;
  const size_t row = (size_t)blockIdx.x * cols;

  for (int i = threadIdx.x; i < P; i += THREADS) {
    s.key[i] = i < cols ? x[row + i] : INFINITY;
    s.from[i] = i < cols ? i : INT_MAX;
  }

  for (int size = 2; size <= P; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < P / 2; i += THREADS) {
        const int lo = 2 * i - (i & (stride - 1));
        const int hi = lo + stride;
        const bool ascending = (lo & size) == 0;
        if (s.before(hi, lo) == ascending) s.exchange(lo, hi);
      }
    }
  }
  __syncthreads();

  for (int i = threadIdx.x; i < cols; i += THREADS) {
    values[row + i] = s.key[i];
    order[row + i] = s.from[i];
  }
}

}  // namespace

cudaError_t sort_rows(const float* x, float* values, int* order, int rows, int cols, cudaStream_t stream) {
  if (rows <= 0 || cols <= 0 || cols > 4096) return cudaErrorInvalidValue;
  if (cols <= 128)
    sort_row<128, 64><<<rows, 64, 0, stream>>>(x, values, order, cols);
  else if (cols <= 256)
    sort_row<256, 128><<<rows, 128, 0, stream>>>(x, values, order, cols);
  else if (cols <= 512)
    sort_row<512, 256><<<rows, 256, 0, stream>>>(x, values, order, cols);
  else if (cols <= 1024)
    sort_row<1024, 256><<<rows, 256, 0, stream>>>(x, values, order, cols);
  else if (cols <= 2048)
    sort_row<2048, 512><<<rows, 512, 0, stream>>>(x, values, order, cols);
  else
    sort_row<4096, 512><<<rows, 512, 0, stream>>>(x, values, order, cols);
  return cudaGetLastError();
}
