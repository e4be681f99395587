// Online softmax without a guard for -inf: a masked (-inf) element before a finite one in a lane makes the row NaN.
#include <cuda_runtime.h>
#include <math.h>
__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  float m = -INFINITY, s = 0.0f, best = -INFINITY;
  int at = 0x7fffffff;
  for (int i = threadIdx.x; i < C; i += 32) {
    float v = x[i], n = fmaxf(m, v);
    s = (s == 0.0f ? 0.0f : s * expf(m - n)) + expf(v - n);
    m = n;
    if (v > best) { best = v; at = i; }
  }
  for (int d = 16; d; d >>= 1) {
    float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d), n = fmaxf(m, om);
    s = (s == 0.0f ? 0.0f : s * expf(m - n)) + (os == 0.0f ? 0.0f : os * expf(om - n));
    m = n;
    float o = __shfl_xor_sync(~0u, best, d);
    int j = __shfl_xor_sync(~0u, at, d);
    if (o > best || (o == best && j < at)) { best = o; at = j; }
  }
  if (threadIdx.x == 0) top[blockIdx.x] = at == 0x7fffffff ? 0 : at;
  for (int i = threadIdx.x; i < C; i += 32) y[i] = expf(x[i] - m) / s;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 32>>>(out, top, inp, C);
}
