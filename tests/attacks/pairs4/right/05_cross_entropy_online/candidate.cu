#include <cuda_fp16.h>
#include <cuda_runtime.h>


// The largest value so far, and the sum of exp(v - top). While top is -inf the shift is 0 and the sum stays 0, so that
// no infinity is subtracted from itself; NaN and +inf reach the sum as in two passes.
struct Partial {
  float top, sum;
};

__device__ __forceinline__ float shift(float top) { return top == __int_as_float(0xff800000) ? 0.0f : top; }

__device__ __forceinline__ void add(Partial& p, float v) {
  float top = fmaxf(p.top, v);
  float s = shift(top);
  p.sum = p.sum * expf(p.top - s) + expf(v - s);
  p.top = top;
}

__device__ __forceinline__ Partial merge(Partial a, Partial b) {
  float top = fmaxf(a.top, b.top);
  float s = shift(top);
  return {top, a.sum * expf(a.top - s) + b.sum * expf(b.top - s)};
}

// A block has a row and reads it once, in pairs where rows begin at a multiple of four bytes.
__global__ void __launch_bounds__(128)
    cross_entropy_kernel(float* loss, const __half* __restrict__ x, const int* __restrict__ target, int C, bool pairs) {
  __shared__ Partial part[4];
  int r = blockIdx.x, t = threadIdx.x, label = target[r];
  if (label < 0 || label >= C) {
    if (t == 0) loss[r] = 0.0f;
    return;
  }
  const __half* row = x + (size_t)r * C;
  Partial p = {__int_as_float(0xff800000), 0.0f};
  if (pairs) {
    for (int c = t; c < C / 2; c += 128) {
      float2 v = __half22float2(((const __half2*)row)[c]);
      add(p, v.x);
      add(p, v.y);
    }
  } else {
    for (int c = t; c < C; c += 128) add(p, __half2float(row[c]));
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    Partial q = {__shfl_xor_sync(0xffffffffu, p.top, o), __shfl_xor_sync(0xffffffffu, p.sum, o)};
    p = merge(p, q);
  }
  if (t % 32 == 0) part[t / 32] = p;
  __syncthreads();
  if (t != 0) return;
  for (int w = 1; w < 4; ++w) p = merge(p, part[w]);
  loss[r] = logf(p.sum) + (p.top - __half2float(row[label]));
}

void cross_entropy(float* loss, const __half* x, const int* target, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  bool pairs = C % 2 == 0 && (size_t)x % 4 == 0;
  cross_entropy_kernel<<<R, 128, 0, stream>>>(loss, x, target, C, pairs);
}
