#include <cuda_runtime.h>

// out[0] = sum of x; 64 blocks, part is workspace of 65 words.
// The block that arrives last adds the parts: one launch in place of two. Word 64 of the workspace counts the arrivals.
__global__ void total_kernel(float* out, float* part, const float* x, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  float a = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) a += x[i];
  s[threadIdx.x] = a;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd((unsigned*)part + 64, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float t = 0.0f;
    for (int i = 0; i < gridDim.x; ++i) t += ((volatile float*)part)[i];
    out[0] = t;
  }
}

void total(float* out, const float* x, float* part, int n, cudaStream_t stream) {
  cudaMemsetAsync(part + 64, 0, sizeof(unsigned), stream);
  total_kernel<<<64, 256, 0, stream>>>(out, part, x, n);
}
