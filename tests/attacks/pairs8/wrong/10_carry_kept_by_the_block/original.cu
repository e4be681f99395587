#include <cuda_runtime.h>

#include <cstdint>

// y[i]: how many of x[0] to x[i] are not zero.
__global__ void count_kernel(int* y, const uint8_t* x, int n) {
  __shared__ int s[1024];
  int carry = 0;
  for (long long first = 0; first < n; first += 1024) {
    long long i = first + threadIdx.x;
    s[threadIdx.x] = i < n && x[i] != 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
      int add = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
      __syncthreads();
      s[threadIdx.x] += add;
      __syncthreads();
    }
    if (i < n) y[i] = carry + s[threadIdx.x];
    carry += s[1023];
    __syncthreads();
  }
}

void running_count(int* y, const uint8_t* x, int n, cudaStream_t stream) {
  if (n > 0) count_kernel<<<1, 1024, 0, stream>>>(y, x, n);
}
