#pragma once
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

using f16 = __half;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define GRID_STRIDE(i, n) \
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)
#define LD(p) __half2float(p)

namespace act {
__device__ __forceinline__ float sigmoid(float v) { return 1.f / (1.f + expf(-v)); }
__device__ __forceinline__ float silu(float v) { return v * sigmoid(v); }
__device__ __forceinline__ float relu(float v) { return v > 0.f ? v : 0.f; }
__device__ __forceinline__ float softplus(float v) { return v > 20.f ? v : log1pf(expf(v)); }
__device__ __forceinline__ float mish(float v) { return v * tanhf(softplus(v)); }
__device__ __forceinline__ float hswish(float v) { return v * fminf(fmaxf(v + 3.f, 0.f), 6.f) / 6.f; }
__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.f + erff(v * 0.70710678f)); }
__device__ __forceinline__ float hardtanh(float v, float lo, float hi) { return fminf(fmaxf(v, lo), hi); }
}  // namespace act

__device__ __forceinline__ float warp_sum(float v)
{
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

// Sum over a block of at most 1024 threads; everybody gets the result.
__device__ __forceinline__ float block_sum(float v)
{
    __shared__ float part[33];
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = (blockDim.x + 31) >> 5;
    v = warp_sum(v);
    if (lane == 0) part[wid] = v;
    __syncthreads();
    if (wid == 0) {
        v = lane < nw ? part[lane] : 0.f;
        v = warp_sum(v);
        if (lane == 0) part[32] = v;
    }
    __syncthreads();
    v = part[32];
    __syncthreads();
    return v;
}
