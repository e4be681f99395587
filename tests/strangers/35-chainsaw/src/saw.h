// Small things that every chain needs.
#ifndef SAW_H
#define SAW_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

typedef __half h16;
typedef __nv_bfloat16 b16;

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__device__ inline float ld(const float* p) { return *p; }
__device__ inline float ld(const h16* p) { return __half2float(*p); }
__device__ inline float ld(const b16* p) { return __bfloat162float(*p); }
__device__ inline void st(float* p, float v) { *p = v; }
__device__ inline void st(h16* p, float v) { *p = __float2half(v); }
__device__ inline void st(b16* p, float v) { *p = __float2bfloat16(v); }

__device__ inline float sigm(float v) { return 1.f / (1.f + __expf(-v)); }
__device__ inline float gelu_erf(float v) { return 0.5f * v * (1.f + erff(v * 0.70710678f)); }

struct Sum {
  static __device__ float of(float a, float b) { return a + b; }
  static __device__ float none() { return 0.f; }
};
struct Max {
  static __device__ float of(float a, float b) { return fmaxf(a, b); }
  static __device__ float none() { return -INFINITY; }
};

// all threads of the block get the result; the block is a multiple of 32 threads, at most 1024
template <class Op>
__device__ inline float block_all(float v)
{
  __shared__ float part[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (int d = 16; d > 0; d >>= 1) v = Op::of(v, __shfl_xor_sync(0xffffffff, v, d));
  __syncthreads();   // part may still be read from the last time
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < warps ? part[lane] : Op::none();
  for (int d = 16; d > 0; d >>= 1) v = Op::of(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}

// y[m, n] = sum over k of a[m, k] * b[n, k] (+ bias[n]), 16 x 16 tiles; weights as torch.nn.Linear keeps them
template <class TA, class TB, class TO, class Epilogue>
__device__ inline void linear_tile(const TA* __restrict__ a, const TB* __restrict__ b, TO* __restrict__ y, int M, int N, int K,
                                   Epilogue finish)
{
  __shared__ float as[16][17], bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int m = blockIdx.y * 16 + ty, n = blockIdx.x * 16 + tx, nl = blockIdx.x * 16 + ty;
  float acc = 0.f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    const int k = k0 + tx;
    as[ty][tx] = m < M && k < K ? ld(a + (size_t)m * K + k) : 0.f;
    bs[ty][tx] = nl < N && k < K ? ld(b + (size_t)nl * K + k) : 0.f;
    __syncthreads();
    for (int q = 0; q < 16; ++q) acc += as[ty][q] * bs[tx][q];
    __syncthreads();
  }
  if (m < M && n < N) st(y + (size_t)m * N + n, finish(acc, m, n));
}

#endif
