// The last warp reduces in volatile shared memory without __syncwarp, as before Volta.
#include <cuda_runtime.h>
__global__ void sum_squares_kernel(float* out, const float* x, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  float s = 0.0f;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) s += x[i] * x[i];
  part[t] = s;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t < 32) {
    volatile float* v = part;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
    if (t == 0) atomicAdd(out, v[0]);
  }
}
void sum_squares(float* out, const float* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  if (n > 0) sum_squares_kernel<<<(n + 2047) / 2048, 256, 0, stream>>>(out, x, n);
}
