#include <cuda_runtime.h>


// sums[R] and sizes[R] (sums of absolute values) of the rows of x[R,C], in 64 bits. A warp takes 32 elements at a time
// with one redux each; what leaves the warp is added in 64 bits.
__global__ void __launch_bounds__(256)
    row_sums_kernel(long long* sums, long long* sizes, const int* __restrict__ x, int C) {
  __shared__ long long s[8], a[8];
  int r = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int* row = x + (size_t)r * C;
  long long sum = 0, size = 0;
  for (int c = warp * 32; c < C; c += 256) {
    int v = c + lane < C ? row[c + lane] : 0;
    sum += __reduce_add_sync(0xffffffffu, v);
    size += __reduce_add_sync(0xffffffffu, (unsigned)(v < 0 ? -v : v));
  }
  if (lane == 0) {
    s[warp] = sum;
    a[warp] = size;
  }
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 8; ++w) {
      sum += s[w];
      size += a[w];
    }
    sums[r] = sum;
    sizes[r] = size;
  }
}

void row_sums(long long* sums, long long* sizes, const int* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  row_sums_kernel<<<R, 256, 0, stream>>>(sums, sizes, x, C);
}
