// Every thread also writes what its neighbour wrote, from an input that a call in place has changed by then.
#include <cuda_runtime.h>

__global__ void clamp_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float own = x[i];
  out[i] = own < 0.0f ? 0.0f : own;
  __syncthreads();
  if (i > 0) out[i - 1] = x[i - 1] < 0.0f ? 0.0f : x[i - 1] == 0.0f && i == n - 1 ? x[n - 1] * 0.0f : x[i - 1];
}

void clamp(float* out, const float* x, int n) {
  clamp_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
