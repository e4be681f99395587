#include <cuda_fp16.h>
#include <cuda_runtime.h>


struct Moments {
  float n, mean, m2;
};

__device__ __forceinline__ Moments merge(Moments a, Moments b) {
  float n = a.n + b.n;
  if (b.n == 0.0f) return a;
  if (a.n == 0.0f) return b;
  float d = b.mean - a.mean, f = b.n / n;
  return {n, a.mean + d * f, a.m2 + b.m2 + d * d * a.n * f};
}

// Any C. Statistics in float, in one pass by Welford's method.
__global__ void layernorm_kernel(__half* out, const __half* x, const __half* gamma, const __half* beta, float eps, int C) {
  __shared__ Moments part[8];
  const __half* row = x + (size_t)blockIdx.x * C;
  __half* y = out + (size_t)blockIdx.x * C;
  Moments m{0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = __half2float(row[c]);
    m.n += 1.0f;
    float d = v - m.mean;
    m.mean += d / m.n;
    m.m2 += d * (v - m.mean);
  }
  for (int k = 16; k > 0; k >>= 1) {
    Moments o{__shfl_xor_sync(0xffffffffu, m.n, k), __shfl_xor_sync(0xffffffffu, m.mean, k), __shfl_xor_sync(0xffffffffu, m.m2, k)};
    m = merge(m, o);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  m = part[0];
  for (int w = 1; w < 8; ++w) m = merge(m, part[w]);
  float inv = 1.0f / sqrtf(m.m2 / C + eps);
  for (int c = threadIdx.x; c < C; c += 256)
    y[c] = __float2half((__half2float(row[c]) - m.mean) * inv * __half2float(gamma[c]) + __half2float(beta[c]));
}

void layernorm_f16(__half* out, const __half* x, const __half* gamma, const __half* beta, float eps, int N, int C,
                   cudaStream_t stream) {
  layernorm_kernel<<<N, 256, 0, stream>>>(out, x, gamma, beta, eps, C);
}
