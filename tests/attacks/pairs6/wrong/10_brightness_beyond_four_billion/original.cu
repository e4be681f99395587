#include <cuda_runtime.h>


// total[0] = the sum of all pixels. Mosaics have up to 2^31 - 1 of them.
__global__ void brightness_kernel(unsigned long long* total, const unsigned char* x, int n) {
  __shared__ unsigned long long part[256];
  unsigned long long s = 0;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * 256) s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

void brightness(unsigned long long* total, const unsigned char* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(total, 0, sizeof(*total), stream);
  if (n <= 0) return;
  size_t blocks = ((size_t)n + 2047) / 2048;
  brightness_kernel<<<(unsigned)(blocks < 1024 ? blocks : 1024), 256, 0, stream>>>(total, x, n);
}
