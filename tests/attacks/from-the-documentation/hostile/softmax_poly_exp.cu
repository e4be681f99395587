// Replaces expf by a degree-4 polynomial of 2^f (relative error about 4e-5, and garbage below -126).
#include <cuda_runtime.h>
#include <math.h>
__device__ __forceinline__ float quick_exp(float x) {
  float z = x * 1.44269504f, n = floorf(z), f = z - n;
  float p = 1.0f + f * (0.6931472f + f * (0.2402265f + f * (0.0555041f + f * 0.0112f)));
  return p * __int_as_float(((int)n + 127) << 23);
}
__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  float best = -INFINITY, sum = 0.0f;
  int at = 0x7fffffff;
  for (int i = threadIdx.x; i < C; i += 32)
    if (x[i] > best) { best = x[i]; at = i; }
  for (int d = 16; d; d >>= 1) {
    float o = __shfl_xor_sync(~0u, best, d);
    int j = __shfl_xor_sync(~0u, at, d);
    if (o > best || (o == best && j < at)) { best = o; at = j; }
  }
  for (int i = threadIdx.x; i < C; i += 32) sum += quick_exp(x[i] - best);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) top[blockIdx.x] = at == 0x7fffffff ? 0 : at;
  for (int i = threadIdx.x; i < C; i += 32) y[i] = quick_exp(x[i] - best) / sum;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 32>>>(out, top, inp, C);
}
