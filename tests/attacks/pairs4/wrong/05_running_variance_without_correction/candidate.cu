#include <cuda_runtime.h>


struct Moments {
  float n, mean, m2;
};

__device__ Moments merge(Moments a, Moments b) {
  float n = a.n + b.n;
  if (n == 0.0f) return a;
  float d = b.mean - a.mean, f = b.n / n;
  return {n, a.mean + d * f, a.m2 + b.m2 + d * d * a.n * f};
}

// Batch normalization in training: x[N,C,L] is normalized by the variance of the batch; running statistics move by
// momentum. One pass (Welford) in place of two, merged by shuffles.
__global__ void __launch_bounds__(256)
    batchnorm_kernel(float* y, float* running_mean, float* running_var, const float* x, const float* gamma,
                     const float* beta, int N, int C, int L, float momentum) {
  __shared__ Moments shared[8];
  int c = blockIdx.x;
  Moments t = {0.0f, 0.0f, 0.0f};
  for (int n = 0; n < N; ++n) {
    const float* row = x + ((size_t)n * C + c) * L;
    for (int l = threadIdx.x; l < L; l += 256) {
      float v = row[l], d = v - t.mean;
      t.n += 1.0f;
      t.mean += d / t.n;
      t.m2 += d * (v - t.mean);
    }
  }
  for (int o = 16; o > 0; o /= 2) {
    Moments u = {__shfl_xor_sync(0xffffffffu, t.n, o), __shfl_xor_sync(0xffffffffu, t.mean, o),
                 __shfl_xor_sync(0xffffffffu, t.m2, o)};
    t = merge(t, u);
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = t;
  __syncthreads();
  t = shared[0];
  for (int w = 1; w < 8; ++w) t = merge(t, shared[w]);
  float var = t.m2 / t.n;
  float scale = rsqrtf(var + 1e-5f) * gamma[c], shift = beta[c];
  for (int n = 0; n < N; ++n) {
    size_t row = ((size_t)n * C + c) * L;
    for (int l = threadIdx.x; l < L; l += 256) y[row + l] = (x[row + l] - t.mean) * scale + shift;
  }
  if (threadIdx.x == 0) {
    running_mean[c] += momentum * (t.mean - running_mean[c]);
    running_var[c] += momentum * (var - running_var[c]);
  }
}

void batchnorm_train(float* y, float* running_mean, float* running_var, const float* x, const float* gamma,
                     const float* beta, int N, int C, int L, float momentum, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || L <= 0) return;
  batchnorm_kernel<<<C, 256, 0, stream>>>(y, running_mean, running_var, x, gamma, beta, N, C, L, momentum);
}
