#include <cuda_fp16.h>
#include <cuda_runtime.h>


struct Moments {
  float n, mean, m2;
};

__device__ __forceinline__ void add(Moments& m, float v) {
  m.n += 1.0f;
  float d = v - m.mean;
  m.mean += d / m.n;
  m.m2 += d * (v - m.mean);
}

// Chan's formula for two disjoint sets.
__device__ __forceinline__ Moments merge(Moments a, Moments b) {
  float n = a.n + b.n;
  if (n == 0.0f) return a;
  float d = b.mean - a.mean, f = b.n / n;
  return {n, a.mean + d * f, a.m2 + b.m2 + d * d * a.n * f};
}

// A block of 256 threads has a group: its moments in one pass, two elements at a time where groups begin at a multiple
// of four bytes.
template <bool kPairs>
__global__ void __launch_bounds__(256) groupnorm_kernel(__half* y, const __half* x, const __half* gamma,
                                                        const __half* beta, int C, int L, int G, float eps) {
  __shared__ Moments part[8];
  int t = threadIdx.x, g = blockIdx.x % G;
  int cg = C / G, count = cg * L;
  size_t base = (size_t)blockIdx.x * count;
  Moments m = {0.0f, 0.0f, 0.0f};
  if (kPairs) {
    const __half2* pairs = (const __half2*)(x + base);
    for (int i = t; i < count / 2; i += 256) {
      float2 v = __half22float2(pairs[i]);
      add(m, v.x);
      add(m, v.y);
    }
  } else {
    for (int i = t; i < count; i += 256) add(m, __half2float(x[base + i]));
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    Moments u = {__shfl_down_sync(0xffffffffu, m.n, o), __shfl_down_sync(0xffffffffu, m.mean, o),
                 __shfl_down_sync(0xffffffffu, m.m2, o)};
    m = merge(m, u);
  }
  if (t % 32 == 0) part[t / 32] = m;
  __syncthreads();
  m = part[0];
#pragma unroll
  for (int w = 1; w < 8; ++w) m = merge(m, part[w]);
  float inv = rsqrtf(m.m2 / count + eps);
  if (kPairs) {
    for (int i = t; i < count / 2; i += 256) {
      int c0 = g * cg + 2 * i / L, c1 = g * cg + (2 * i + 1) / L;
      float2 v = __half22float2(((const __half2*)(x + base))[i]);
      v.x = (v.x - m.mean) * inv * __half2float(gamma[c0]) + __half2float(beta[c0]);
      v.y = (v.y - m.mean) * inv * __half2float(gamma[c1]) + __half2float(beta[c1]);
      ((__half2*)(y + base))[i] = __float22half2_rn(v);
    }
  } else {
    for (int i = t; i < count; i += 256) {
      int c = g * cg + i / L;
      y[base + i] =
          __float2half((__half2float(x[base + i]) - m.mean) * inv * __half2float(gamma[c]) + __half2float(beta[c]));
    }
  }
}

// C is a multiple of G.
void groupnorm(__half* y, const __half* x, const __half* gamma, const __half* beta, int N, int C, int L, int G,
               float eps, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || L <= 0 || G <= 0) return;
  if (C / G * L % 2 == 0 && ((size_t)y | (size_t)x) % 4 == 0)
    groupnorm_kernel<true><<<N * G, 256, 0, stream>>>(y, x, gamma, beta, C, L, G, eps);
  else
    groupnorm_kernel<false><<<N * G, 256, 0, stream>>>(y, x, gamma, beta, C, L, G, eps);
}
