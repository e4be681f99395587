// out[r] = the dot product of row r of `a` with v; one thread walks a row.
#include <cuda_runtime.h>

__global__ void dot_kernel(float* out, const float* a, const float* v, int N, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += a[(size_t)row * K + k] * v[k];
  out[row] = sum;
}

void dot(float* out, const float* a, const float* v, int N, int K) {
  dot_kernel<<<(N + 63) / 64, 64>>>(out, a, v, N, K);
}
