#include <cuda_runtime.h>

#include <cstdint>

// A warp for each row: maximum and sum in one pass, four numbers at once where rows begin at 16 bytes.
struct State {
  float m, sum;
};

__device__ __forceinline__ State join(State a, State b) {
  float m = fmaxf(a.m, b.m);
  // Nothing so far on one side, or on both, or minus infinity alone: no infinity less infinity here. A NaN in a sum stays.
  float fa = a.m == m ? 1.f : expf(a.m - m), fb = b.m == m ? 1.f : expf(b.m - m);
  return {m, a.sum * fa + b.sum * fb};
}

__device__ __forceinline__ State with(State s, float v) {
  float m = fmaxf(s.m, v);
  return {m, (s.m == m ? s.sum : s.sum * expf(s.m - m)) + (v == m && v < INFINITY ? 1.f : expf(v - m))};
}

template <bool kFours>
__global__ void __launch_bounds__(128) softmax_kernel(float* y, const float* x, int R, int C) {
  long long r = (long long)blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= R) return;
  const float* from = x + r * C;
  float* to = y + r * C;
  State s = {-INFINITY, 0.f};
  if (kFours) {
    for (int c = lane; c < C / 4; c += 32) {
      float4 v = reinterpret_cast<const float4*>(from)[c];
      s = with(with(with(with(s, v.x), v.y), v.z), v.w);
    }
  } else {
    for (int c = lane; c < C; c += 32) s = with(s, from[c]);
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) s = join(s, {__shfl_xor_sync(~0u, s.m, d), __shfl_xor_sync(~0u, s.sum, d)});
  if (kFours) {
    for (int c = lane; c < C / 4; c += 32) {
      float4 v = reinterpret_cast<const float4*>(from)[c];
      v.x = expf(v.x - s.m) / s.sum, v.y = expf(v.y - s.m) / s.sum;
      v.z = expf(v.z - s.m) / s.sum, v.w = expf(v.w - s.m) / s.sum;
      reinterpret_cast<float4*>(to)[c] = v;
    }
  } else {
    for (int c = lane; c < C; c += 32) to[c] = expf(from[c] - s.m) / s.sum;
  }
}

void softmax_rows(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned blocks = (unsigned)(((long long)R + 3) / 4);
  if (C % 4 == 0 && ((size_t)y | (size_t)x) % 16 == 0) softmax_kernel<true><<<blocks, 128, 0, stream>>>(y, x, R, C);
  else softmax_kernel<false><<<blocks, 128, 0, stream>>>(y, x, R, C);
}
