#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define FULL 0xffffffffu
#define BLOCKS_FOR(n, per) ((unsigned)(((n) + (per) - 1) / (per)))

using i64 = long long;
using bf16 = __nv_bfloat16;

// one flat index per thread, 64 bit because the activations get large
static __device__ __forceinline__ i64 flat_index() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }

// peel the fastest coordinate off a flat index
static __device__ __forceinline__ int peel(i64& rest, int extent)
{
  int c = (int)(rest % extent);
  rest /= extent;
  return c;
}

static __device__ __forceinline__ float warp_add(float v)
{
#pragma unroll
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL, v, d);
  return v;
}
