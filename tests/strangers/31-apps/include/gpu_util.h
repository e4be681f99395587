#ifndef APPS_GPU_UTIL_H
#define APPS_GPU_UTIL_H
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>

static inline int ceil_div_i(int a, int b) { return (a + b - 1) / b; }

template <typename T> struct Cvt;
template <> struct Cvt<float> {
  static __device__ __forceinline__ float load(float v) { return v; }
  static __device__ __forceinline__ float store(float v) { return v; }
};
template <> struct Cvt<__half> {
  static __device__ __forceinline__ float load(__half v) { return __half2float(v); }
  static __device__ __forceinline__ __half store(float v) { return __float2half_rn(v); }
};
template <> struct Cvt<__nv_bfloat16> {
  static __device__ __forceinline__ float load(__nv_bfloat16 v) { return __bfloat162float(v); }
  static __device__ __forceinline__ __nv_bfloat16 store(float v) { return __float2bfloat16(v); }
};

struct AddOp { __device__ __forceinline__ float operator()(float a, float b) const { return a + b; } };
struct MaxOp { __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); } };

template <typename Op> __device__ __forceinline__ float warp_all(float v, Op op) {
  for (int d = 16; d > 0; d >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

// All threads get the result; THREADS is a multiple of 32.
template <int THREADS, typename Op> __device__ float block_all(float v, Op op) {
  __shared__ float warp_part[THREADS / 32];
  v = warp_all(v, op);
  if (threadIdx.x % 32 == 0) warp_part[threadIdx.x / 32] = v;
  __syncthreads();
  float r = warp_part[0];
  for (int i = 1; i < THREADS / 32; ++i) r = op(r, warp_part[i]);
  __syncthreads();
  return r;
}
#endif
