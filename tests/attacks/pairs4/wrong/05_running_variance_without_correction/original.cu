#include <cuda_runtime.h>


__device__ float block_sum(float v, float* shared) {
  shared[threadIdx.x] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
    __syncthreads();
  }
  float total = shared[0];
  __syncthreads();
  return total;
}

// Batch normalization in training: x[N,C,L] is normalized by the variance of the batch; the running mean and the
// running variance (that of the population, as it is estimated from the batch) move by momentum.
__global__ void batchnorm_kernel(float* y, float* running_mean, float* running_var, const float* x, const float* gamma,
                                 const float* beta, int N, int C, int L, float momentum) {
  __shared__ float shared[256];
  int c = blockIdx.x, count = N * L;
  float s = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) s += x[((size_t)(i / L) * C + c) * L + i % L];
  float mean = block_sum(s, shared) / count;
  float q = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    float d = x[((size_t)(i / L) * C + c) * L + i % L] - mean;
    q += d * d;
  }
  float m2 = block_sum(q, shared);
  float inv = rsqrtf(m2 / count + 1e-5f);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    size_t at = ((size_t)(i / L) * C + c) * L + i % L;
    y[at] = (x[at] - mean) * inv * gamma[c] + beta[c];
  }
  if (threadIdx.x == 0) {
    float var = m2 / (count > 1 ? count - 1 : 1);
    running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * mean;
    running_var[c] = (1.0f - momentum) * running_var[c] + momentum * var;
  }
}

void batchnorm_train(float* y, float* running_mean, float* running_var, const float* x, const float* gamma,
                     const float* beta, int N, int C, int L, float momentum, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || L <= 0) return;
  batchnorm_kernel<<<C, 256, 0, stream>>>(y, running_mean, running_var, x, gamma, beta, N, C, L, momentum);
}
