// Sum of squares of a vector: block sums in shared memory, then one atomic each.
#include <cuda_runtime.h>

__global__ void sum_squares_kernel(float* out, const float* x, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  part[threadIdx.x] = v * v;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

void sum_squares(float* out, const float* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  if (n > 0) sum_squares_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n);
}
