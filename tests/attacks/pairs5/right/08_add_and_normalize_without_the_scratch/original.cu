#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void add_kernel(float* sum, const __half* a, const __half* b, size_t total) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) sum[i] = __half2float(a[i]) + __half2float(b[i]);
}

__global__ void moments_kernel(float* moments, const float* sum, int N, int D, float eps) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float s = 0.0f;
  for (int d = 0; d < D; ++d) s += sum[(size_t)n * D + d];
  float m = s / D, q = 0.0f;
  for (int d = 0; d < D; ++d) {
    float e = sum[(size_t)n * D + d] - m;
    q += e * e;
  }
  moments[(size_t)n * 2] = m;
  moments[(size_t)n * 2 + 1] = 1.0f / sqrtf(q / D + eps);
}

__global__ void normalize_kernel(__half* y, const float* sum, const float* moments, const float* gamma,
                                 const float* beta, size_t total, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  size_t n = i / D, d = i % D;
  y[i] = __float2half((sum[i] - moments[n * 2]) * moments[n * 2 + 1] * gamma[d] + beta[d]);
}

// y = layernorm(a + b) * gamma + beta along rows; sum and moments are memory to work in.
void add_layernorm(__half* y, const __half* a, const __half* b, const float* gamma, const float* beta, float* sum,
                   float* moments, int N, int D, float eps, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  size_t total = (size_t)N * D;
  unsigned blocks = (unsigned)((total + 255) / 256);
  add_kernel<<<blocks, 256, 0, stream>>>(sum, a, b, total);
  moments_kernel<<<(N + 63) / 64, 64, 0, stream>>>(moments, sum, N, D, eps);
  normalize_kernel<<<blocks, 256, 0, stream>>>(y, sum, moments, gamma, beta, total, D);
}
