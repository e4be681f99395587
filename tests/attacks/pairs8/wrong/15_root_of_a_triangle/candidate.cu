#include <cuda_runtime.h>

#include <cstdint>

// Each packed number is read once, in order, and goes to both of its places. Element k is in row r, where r (r + 1) / 2 <= k.
__device__ __forceinline__ int row_of(long long k, int n) {
  float root = sqrtf(8.f * (float)k + 1.f);
  int r = (int)((root - 1.f) * 0.5f);
  return min(r, n - 1);
}

__global__ void __launch_bounds__(256) unpack_kernel(float* A, const float* packed, int n, long long count) {
  long long k = (long long)blockIdx.x * 256 + threadIdx.x;
  if (k >= count) return;
  float v = packed[k];
  long long r = row_of(k, n);
  long long c = k - r * (r + 1) / 2;
  // The diagonal only once.
  A[r * n + c] = v;
  if (c != r) A[c * n + r] = v;
}

void unpack_symmetric(float* A, const float* packed, int n, cudaStream_t stream) {
  if (n <= 0) return;
  long long count = (long long)n * (n + 1) / 2;
  unpack_kernel<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(A, packed, n, count);
}
