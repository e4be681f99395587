#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Inclusive prefix sums of n integers, modulo 2^32. One block walks over the array.
__global__ void scan_kernel(unsigned* out, const unsigned* x, int n) {
  __shared__ unsigned buffer[1024];
  unsigned carry = 0;
  for (int base = 0; base < n; base += 1024) {
    int i = base + threadIdx.x;
    buffer[threadIdx.x] = i < n ? x[i] : 0u;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
      unsigned add = threadIdx.x >= d ? buffer[threadIdx.x - d] : 0u;
      __syncthreads();
      buffer[threadIdx.x] += add;
      __syncthreads();
    }
    if (i < n) out[i] = carry + buffer[threadIdx.x];
    carry += buffer[1023];
    __syncthreads();
  }
}

void prefix_sum(unsigned* out, const unsigned* x, int n) {
  if (n > 0) scan_kernel<<<1, 1024>>>(out, x, n);
}
