// Online softmax in one reading pass, with -inf, +inf and NaN handled as the original does.
#include <cuda_runtime.h>
#include <math.h>
struct State { float m, s; int at; };
__device__ __forceinline__ State merge(State a, State b) {
  bool other = b.m > a.m || (b.m == a.m && b.at < a.at);
  float m = other ? b.m : a.m;
  float s = (a.s == 0.0f ? 0.0f : a.s * expf(a.m - m)) + (b.s == 0.0f ? 0.0f : b.s * expf(b.m - m));
  return State{m, s, other ? b.at : a.at};
}
__global__ void online(float* out, int* top, const float* inp, int C) {
  __shared__ State part[4];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  State a{-INFINITY, 0.0f, 0x7fffffff};
  for (int i = t; i < C; i += 128) {
    float v = x[i];
    if (v > a.m) {
      a.s = (a.s == 0.0f ? 0.0f : a.s * expf(a.m - v)) + expf(v - v);
      a.m = v;
      a.at = i;
    } else if (v != -INFINITY) {
      a.s += expf(v - a.m);
    }
  }
  for (int d = 16; d; d >>= 1)
    a = merge(a, State{__shfl_xor_sync(~0u, a.m, d), __shfl_xor_sync(~0u, a.s, d), __shfl_xor_sync(~0u, a.at, d)});
  if (t % 32 == 0) part[t / 32] = a;
  __syncthreads();
  a = merge(merge(part[0], part[1]), merge(part[2], part[3]));
  if (t == 0) top[blockIdx.x] = a.at == 0x7fffffff ? 0 : a.at;
  for (int i = t; i < C; i += 128) y[i] = expf(x[i] - a.m) / a.s;
}
void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  online<<<N, 128>>>(out, top, inp, C);
}
