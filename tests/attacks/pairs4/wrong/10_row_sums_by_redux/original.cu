#include <cuda_runtime.h>


// sums[R] and sizes[R] (sums of absolute values) of the rows of x[R,C], in 64 bits.
__global__ void row_sums_kernel(long long* sums, long long* sizes, const int* x, int C) {
  __shared__ long long s[256], a[256];
  int r = blockIdx.x, t = threadIdx.x;
  long long sum = 0, size = 0;
  for (int c = t; c < C; c += 256) {
    long long v = x[(size_t)r * C + c];
    sum += v;
    size += v < 0 ? -v : v;
  }
  s[t] = sum;
  a[t] = size;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) {
      s[t] += s[t + o];
      a[t] += a[t + o];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[r] = s[0];
    sizes[r] = a[0];
  }
}

void row_sums(long long* sums, long long* sizes, const int* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  row_sums_kernel<<<R, 256, 0, stream>>>(sums, sizes, x, C);
}
