#include <cuda_runtime.h>


// out[0] = sum of x; 64 blocks, part is workspace of 65 words.
__global__ void total_part(float* part, const float* x, int n) {
  __shared__ float s[256];
  float a = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) a += x[i];
  s[threadIdx.x] = a;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x] = s[0];
}

__global__ void total_end(float* out, const float* part, int blocks) {
  float a = 0.0f;
  for (int i = 0; i < blocks; ++i) a += part[i];
  out[0] = a;
}

void total(float* out, const float* x, float* part, int n, cudaStream_t stream) {
  total_part<<<64, 256, 0, stream>>>(part, x, n);
  total_end<<<1, 1, 0, stream>>>(out, part, 64);
}
