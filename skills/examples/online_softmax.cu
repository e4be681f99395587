// Softmax over rows [rows][columns] in f32, with maximum and sum in one pass. Launch: `rows` blocks of 256 threads.
#include <math_constants.h>

// The sum of exponentials relative to the maximum: what was summed relative to a smaller one is scaled.
struct Softmax {
  float max, sum;
};
__device__ Softmax Combine(Softmax a, Softmax b) {
  const float max = fmaxf(a.max, b.max);
  // Where the maxima are equal nothing is scaled: minus infinity less itself is not a number.
  return {max, (a.max == max ? a.sum : a.sum * expf(a.max - max)) + (b.max == max ? b.sum : b.sum * expf(b.max - max))};
}
__device__ Softmax CombineOverWarp(Softmax s) {
  for (int offset = 16; offset > 0; offset /= 2)
    s = Combine(s, {__shfl_xor_sync(0xffffffffu, s.max, offset), __shfl_xor_sync(0xffffffffu, s.sum, offset)});
  return s;
}

__global__ void __launch_bounds__(256) online_softmax(float* __restrict__ out, const float* __restrict__ in, int columns) {
  __shared__ Softmax of_warp[8];
  const float* x = in + static_cast<size_t>(blockIdx.x) * columns;
  float* y = out + static_cast<size_t>(blockIdx.x) * columns;
  Softmax s = {-CUDART_INF_F, 0.f};
  for (int i = threadIdx.x; i < columns; i += 256) {
    const float v = x[i];
    if (v > s.max) {  // seldom, after the first elements: one exponential for each element
      s.sum = s.sum * expf(s.max - v) + (v - v + 1.f);  // one; not a number for infinity, as in three passes
      s.max = v;
    } else if (v != -CUDART_INF_F) {  // which adds nothing, and less a maximum of minus infinity is not a number
      s.sum += expf(v - s.max);
    }
  }
  s = CombineOverWarp(s);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = s;
  __syncthreads();
  s = CombineOverWarp(threadIdx.x % 32 < 8 ? of_warp[threadIdx.x % 32] : Softmax{-CUDART_INF_F, 0.f});  // in every warp
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = expf(x[i] - s.max) / s.sum;
}
