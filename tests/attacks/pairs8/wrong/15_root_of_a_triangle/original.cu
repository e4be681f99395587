#include <cuda_runtime.h>

#include <cstdint>

// A symmetric matrix from its lower triangle, row by row.
__global__ void unpack_kernel(float* A, const float* packed, int n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)n * n) return;
  long long r = i / n, c = i % n;
  if (c > r) {
    long long t = r;
    r = c, c = t;
  }
  A[i] = packed[r * (r + 1) / 2 + c];
}

void unpack_symmetric(float* A, const float* packed, int n, cudaStream_t stream) {
  if (n > 0) unpack_kernel<<<(unsigned)(((long long)n * n + 255) / 256), 256, 0, stream>>>(A, packed, n);
}
