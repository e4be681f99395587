// Scales by log2(e) once and uses exp2f, with the exponentials kept in dynamic shared memory for rows that fit.
#include <cuda_runtime.h>
#include <math.h>
constexpr float kLog2e = 1.44269504088896341f;
__global__ void softmax_shared(float* out, int* top, const float* inp, int C, int staged) {
  extern __shared__ float e[];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int l = threadIdx.x, at = 0x7fffffff;
  float best = -INFINITY, sum = 0.0f;
  for (int i = l; i < C; i += 32)
    if (x[i] > best) { best = x[i]; at = i; }
  for (int d = 16; d; d >>= 1) {
    float o = __shfl_xor_sync(~0u, best, d);
    int j = __shfl_xor_sync(~0u, at, d);
    if (o > best || (o == best && j < at)) { best = o; at = j; }
  }
  for (int i = l; i < C; i += 32) {
    float v = exp2f((x[i] - best) * kLog2e);
    if (staged) e[i] = v;
    sum += v;
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (l == 0) top[blockIdx.x] = at == 0x7fffffff ? 0 : at;
  for (int i = l; i < C; i += 32) y[i] = (staged ? e[i] : exp2f((x[i] - best) * kLog2e)) / sum;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  int staged = C <= 12288;
  softmax_shared<<<N, 32, staged ? C * sizeof(float) : 0>>>(out, top, inp, C, staged);
}
