#include <cuda_runtime.h>



// y[i] = x[i] + x[i+1] + ... to the end, modulo 2^32.
__global__ void suffix_kernel(int* y, const int* x, int n) {
  __shared__ unsigned sums[1024];
  int t = threadIdx.x;
  unsigned behind = 0;
  for (long long end = n; end > 0; end -= 1024) {
    long long i = end - 1 - t;
    sums[t] = i >= 0 ? (unsigned)x[i] : 0u;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
      unsigned before = t >= d ? sums[t - d] : 0u;
      __syncthreads();
      sums[t] += before;
      __syncthreads();
    }
    if (i >= 0) y[i] = (int)(sums[t] + behind);
    behind += sums[1023];
    __syncthreads();
  }
}

void suffix_sums(int* y, const int* x, int n, cudaStream_t stream) {
  if (n > 0) suffix_kernel<<<1, 1024, 0, stream>>>(y, x, n);
}
