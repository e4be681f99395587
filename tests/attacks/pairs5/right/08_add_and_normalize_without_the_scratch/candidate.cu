#include <cuda_fp16.h>
#include <cuda_runtime.h>


template <int kWarps>
__device__ float team_sum(float s, float* parts) {
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (kWarps == 1) return s;
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0.0f;
  for (int w = 0; w < kWarps; ++w) s += parts[w];
  return s;
}

// One kernel, a row for kWarps warps (one of them: four rows per block). The sum a + b is made again in each of the three passes; after
// the first one it comes from the cache. Nothing is written but y.
template <int kWarps>
__global__ void __launch_bounds__(kWarps == 1 ? 128 : kWarps * 32)
    add_layernorm_kernel(__half* y, const __half* a, const __half* b, const float* gamma, const float* beta, int N,
                         int D, float eps) {
  __shared__ float parts[2][32];
  constexpr int kThreads = kWarps * 32;
  size_t n = kWarps == 1 ? (size_t)blockIdx.x * 4 + threadIdx.x / 32 : blockIdx.x;
  if (n >= (size_t)N) return;
  int t = threadIdx.x % kThreads;
  size_t base = n * D;
  float s = 0.0f;
  for (int d = t; d < D; d += kThreads) s += __half2float(a[base + d]) + __half2float(b[base + d]);
  float m = team_sum<kWarps>(s, parts[0]) / D;
  float q = 0.0f;
  for (int d = t; d < D; d += kThreads) {
    float e = __half2float(a[base + d]) + __half2float(b[base + d]) - m;
    q += e * e;
  }
  float r = 1.0f / sqrtf(team_sum<kWarps>(q, parts[1]) / D + eps);
  for (int d = t; d < D; d += kThreads) {
    float v = __half2float(a[base + d]) + __half2float(b[base + d]);
    y[base + d] = __float2half((v - m) * r * gamma[d] + beta[d]);
  }
}

// y = layernorm(a + b) * gamma + beta along rows; sum and moments are memory that is not needed any more.
void add_layernorm(__half* y, const __half* a, const __half* b, const float* gamma, const float* beta, float* sum,
                   float* moments, int N, int D, float eps, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  (void)sum;
  (void)moments;
  if (D <= 512)
    add_layernorm_kernel<1><<<(unsigned)(((size_t)N + 3) / 4), 128, 0, stream>>>(y, a, b, gamma, beta, N, D, eps);
  else
    add_layernorm_kernel<8><<<N, 256, 0, stream>>>(y, a, b, gamma, beta, N, D, eps);
}
