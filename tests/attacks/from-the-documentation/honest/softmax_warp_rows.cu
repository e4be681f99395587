// One warp per row with the row in registers, template dispatched on the number of columns, a block per row for long ones.
#include <cuda_runtime.h>
#include <math.h>
struct Best { float v; int i; };
__device__ __forceinline__ Best better(Best a, Best b) { return b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a; }
__device__ __forceinline__ Best warp_best(Best a) {
  for (int d = 16; d; d >>= 1) a = better(a, Best{__shfl_xor_sync(~0u, a.v, d), __shfl_xor_sync(~0u, a.i, d)});
  return a;
}
__device__ __forceinline__ float warp_sum(float s) {
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  return s;
}
template <int K>
__global__ void short_rows(float* out, int* top, const float* inp, int N, int C) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, l = threadIdx.x % 32;
  if (r >= N) return;
  const float* x = inp + (size_t)r * C;
  float v[K], s = 0.0f;
  Best b{-INFINITY, 0x7fffffff};
#pragma unroll
  for (int k = 0; k < K; ++k) {
    int i = l + 32 * k;
    v[k] = i < C ? x[i] : -INFINITY;
    if (v[k] > b.v) b = Best{v[k], i};
  }
  b = warp_best(b);
#pragma unroll
  for (int k = 0; k < K; ++k)
    if (l + 32 * k < C) s += v[k] = expf(v[k] - b.v);
  s = warp_sum(s);
  if (l == 0) top[r] = b.i == 0x7fffffff ? 0 : b.i;
#pragma unroll
  for (int k = 0; k < K; ++k)
    if (l + 32 * k < C) out[(size_t)r * C + l + 32 * k] = v[k] / s;
}
__global__ void long_rows(float* out, int* top, const float* inp, int C) {
  __shared__ Best sb[8];
  __shared__ float ss[8];
  const float* x = inp + (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  Best b{-INFINITY, 0x7fffffff};
  for (int i = t; i < C; i += 256)
    if (x[i] > b.v) b = Best{x[i], i};
  b = warp_best(b);
  if (t % 32 == 0) sb[t / 32] = b;
  __syncthreads();
  for (int k = 0; k < 8; ++k) b = better(b, sb[k]);
  float s = 0.0f;
  for (int i = t; i < C; i += 256) s += expf(x[i] - b.v);
  s = warp_sum(s);
  if (t % 32 == 0) ss[t / 32] = s;
  __syncthreads();
  s = 0.0f;
  for (int k = 0; k < 8; ++k) s += ss[k];
  if (t == 0) top[blockIdx.x] = b.i == 0x7fffffff ? 0 : b.i;
  for (int i = t; i < C; i += 256) out[(size_t)blockIdx.x * C + i] = expf(x[i] - b.v) / s;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  unsigned g = (unsigned)((N - 1) / 4 + 1);
  if (C <= 32) short_rows<1><<<g, 128>>>(out, top, inp, N, C);
  else if (C <= 128) short_rows<4><<<g, 128>>>(out, top, inp, N, C);
  else if (C <= 512) short_rows<16><<<g, 128>>>(out, top, inp, N, C);
  else long_rows<<<N, 256>>>(out, top, inp, C);
}
