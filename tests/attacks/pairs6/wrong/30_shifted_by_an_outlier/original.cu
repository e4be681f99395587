#include <cuda_fp16.h>
#include <cuda_runtime.h>


// mean[g] and rstd[g] = 1 / sqrt(variance + eps) of the L values of each group; the variance in a second pass, for groups have up to a
// million values, and outliers.
__global__ void moments_kernel(float* mean, float* rstd, const __half* x, int L, float eps) {
  __shared__ float part[256];
  const __half* in = x + (size_t)blockIdx.x * L;
  float s = 0.0f;
  for (int i = threadIdx.x; i < L; i += 256) s += __half2float(in[i]);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  float m = part[0] / L;
  __syncthreads();
  float q = 0.0f;
  for (int i = threadIdx.x; i < L; i += 256) {
    float d = __half2float(in[i]) - m;
    q += d * d;
  }
  part[threadIdx.x] = q;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m;
    rstd[blockIdx.x] = 1.0f / sqrtf(part[0] / L + eps);
  }
}

void group_moments(float* mean, float* rstd, const __half* x, int G, int L, float eps, cudaStream_t stream) {
  if (G <= 0) return;
  moments_kernel<<<G, 256, 0, stream>>>(mean, rstd, x, L, eps);
}
