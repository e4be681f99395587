// Keeps the exponentials in f16 in shared memory between the passes (small probabilities vanish).
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  extern __shared__ __half stage[];
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
  for (int i = threadIdx.x; i < C; i += 32) {
    float e = expf(x[i] - best);
    sum += e;
    stage[i] = __float2half(e);
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) top[blockIdx.x] = at == 0x7fffffff ? 0 : at;
  for (int i = threadIdx.x; i < C; i += 32) y[i] = __half2float(stage[i]) / sum;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 32, C * sizeof(__half)>>>(out, top, inp, C);
}
