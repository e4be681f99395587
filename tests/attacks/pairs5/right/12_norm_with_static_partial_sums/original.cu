#include <cuda_bf16.h>
#include <cuda_runtime.h>


__device__ float partial_sums[64];

__device__ float block_sum(float s) {
  __shared__ float sums[256];
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
    __syncthreads();
  }
  return sums[0];
}

__global__ void square_sums(const __nv_bfloat16* g, int n) {
  float s = 0.0f;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < (size_t)n; i += 64 * 256) {
    float v = __bfloat162float(g[i]);
    s += v * v;
  }
  s = block_sum(s);
  if (threadIdx.x == 0) partial_sums[blockIdx.x] = s;
}

__global__ void root_of_sums(float* norm) {
  float s = block_sum(threadIdx.x < 64 ? partial_sums[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) *norm = sqrtf(s);
}

// norm = sqrt(sum(g^2)); n = 0 gives 0. Calls must not overlap.
void grad_norm(float* norm, const __nv_bfloat16* g, int n, cudaStream_t stream) {
  if (n < 0) return;
  square_sums<<<64, 256, 0, stream>>>(g, n);
  root_of_sums<<<1, 256, 0, stream>>>(norm);
}
