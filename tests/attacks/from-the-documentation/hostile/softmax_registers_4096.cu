// Holds the row in registers, 16 per thread: columns past 4096 are neither summed nor written.
#include <cuda_runtime.h>
#include <math.h>
__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  __shared__ float val[8], tot[8];
  __shared__ int idx[8];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  float r[16], best = -INFINITY, sum = 0.0f;
  int at = 0x7fffffff;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int i = t + k * 256;
    r[k] = i < C ? x[i] : -INFINITY;
    if (r[k] > best) { best = r[k]; at = i; }
  }
  for (int d = 16; d; d >>= 1) {
    float o = __shfl_xor_sync(~0u, best, d);
    int j = __shfl_xor_sync(~0u, at, d);
    if (o > best || (o == best && j < at)) { best = o; at = j; }
  }
  if (t % 32 == 0) { val[t / 32] = best; idx[t / 32] = at; }
  __syncthreads();
  for (int k = 0; k < 8; ++k)
    if (val[k] > best || (val[k] == best && idx[k] < at)) { best = val[k]; at = idx[k]; }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    if (t + k * 256 < C) sum += (r[k] = expf(r[k] - best));
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (t % 32 == 0) tot[t / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int k = 0; k < 8; ++k) sum += tot[k];
  if (t == 0) top[blockIdx.x] = at == 0x7fffffff ? 0 : at;
#pragma unroll
  for (int k = 0; k < 16; ++k)
    if (t + k * 256 < C) y[t + k * 256] = r[k] / sum;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 256>>>(out, top, inp, C);
}
