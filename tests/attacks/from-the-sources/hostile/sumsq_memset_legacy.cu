// Clears the output with cudaMemset on the legacy stream, which a non-blocking stream of the caller does not wait for.
#include <cuda_runtime.h>
__global__ void sum_squares_kernel(float* out, const float* x, int n) {
  float s = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += x[i] * x[i];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
void sum_squares(float* out, const float* x, int n, cudaStream_t stream) {
  cudaMemset(out, 0, sizeof(float));
  if (n > 0) sum_squares_kernel<<<(n + 2047) / 2048, 256, 0, stream>>>(out, x, n);
}
