#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define WARP_SIZE 32
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(__half v) { return __half2float(v); }
__device__ __forceinline__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <typename T>
__device__ __forceinline__ T from_float(float v);
template <>
__device__ __forceinline__ float from_float<float>(float v) { return v; }
template <>
__device__ __forceinline__ __half from_float<__half>(float v) { return __float2half(v); }
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float v) { return __float2bfloat16(v); }

__device__ __forceinline__ float warp_sum(float v) {
  for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffffu, v, mask);
  return v;
}

__device__ __forceinline__ float warp_max(float v) {
  for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, mask));
  return v;
}

// Over a block of WARPS full warps; every thread gets the result. `slots` holds WARPS floats and may be used again.
template <int WARPS>
__device__ __forceinline__ float block_sum(float v, float* slots) {
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % WARP_SIZE == 0) slots[threadIdx.x / WARP_SIZE] = v;
  __syncthreads();
  float total = 0.f;
  for (int w = 0; w < WARPS; ++w) total += slots[w];
  return total;
}

template <int WARPS>
__device__ __forceinline__ float block_max(float v, float* slots) {
  v = warp_max(v);
  __syncthreads();
  if (threadIdx.x % WARP_SIZE == 0) slots[threadIdx.x / WARP_SIZE] = v;
  __syncthreads();
  float top = slots[0];
  for (int w = 1; w < WARPS; ++w) top = fmaxf(top, slots[w]);
  return top;
}
