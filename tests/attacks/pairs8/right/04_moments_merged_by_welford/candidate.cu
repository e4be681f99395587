#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// One pass over the row: each lane keeps count, mean and squared deviations (Welford), lanes and warps merge theirs (Chan).
struct Moments {
  float n, mean, m2;
};

__device__ __forceinline__ Moments merge(Moments a, Moments b) {
  if (b.n == 0) return a;
  if (a.n == 0) return b;
  float n = a.n + b.n, apart = b.mean - a.mean, share = b.n / n;
  return {n, a.mean + apart * share, a.m2 + b.m2 + apart * apart * a.n * share};
}

__device__ __forceinline__ Moments with(Moments a, float v) {
  float n = a.n + 1, apart = v - a.mean, mean = a.mean + apart / n;
  return {n, mean, a.m2 + apart * (v - mean)};
}

template <bool kPairs>
__global__ void __launch_bounds__(128) norm_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* g, const float* b, int C, float eps) {
  __shared__ Moments warps[4];
  const __nv_bfloat16* from = x + (size_t)blockIdx.x * C;
  __nv_bfloat16* to = y + (size_t)blockIdx.x * C;
  Moments m = {0, 0, 0};
  if (kPairs) {
    for (int c = threadIdx.x; c < C / 2; c += 128) {
      float2 v = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(from)[c]);
      m = with(with(m, v.x), v.y);
    }
  } else {
    for (int c = threadIdx.x; c < C; c += 128) m = with(m, __bfloat162float(from[c]));
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2)
    m = merge(m, {__shfl_down_sync(~0u, m.n, d), __shfl_down_sync(~0u, m.mean, d), __shfl_down_sync(~0u, m.m2, d)});
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
  __syncthreads();
  m = merge(merge(warps[0], warps[1]), merge(warps[2], warps[3]));
  float scale = 1.f / sqrtf(m.m2 / C + eps);
  if (kPairs) {
    for (int c = threadIdx.x; c < C / 2; c += 128) {
      float2 v = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(from)[c]);
      v.x = (v.x - m.mean) * scale * g[2 * c] + b[2 * c];
      v.y = (v.y - m.mean) * scale * g[2 * c + 1] + b[2 * c + 1];
      reinterpret_cast<__nv_bfloat162*>(to)[c] = __float22bfloat162_rn(v);
    }
  } else {
    for (int c = threadIdx.x; c < C; c += 128) to[c] = __float2bfloat16((__bfloat162float(from[c]) - m.mean) * scale * g[c] + b[c]);
  }
}

void layer_norm(__nv_bfloat16* y, const __nv_bfloat16* x, const float* g, const float* b, int R, int C, float eps, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  if (C % 2 == 0 && ((size_t)y | (size_t)x) % 4 == 0) norm_kernel<true><<<R, 128, 0, stream>>>(y, x, g, b, C, eps);
  else norm_kernel<false><<<R, 128, 0, stream>>>(y, x, g, b, C, eps);
}
