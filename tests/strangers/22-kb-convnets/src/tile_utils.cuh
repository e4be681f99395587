#pragma once
// small helpers shared by the tiled kernels in this folder

#include <cuda_fp16.h>

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

static __device__ __forceinline__ float load_or_zero(const __half* p, int y, int x, int H, int W) {
    if (y >= 0 && y < H && x >= 0 && x < W)
        return __half2float(p[y * W + x]);
    return 0.0f;
}

static __device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

// The result is valid in all threads. `partials` has 32 entries.
static __device__ float block_sum(float v, float* partials) {
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0) partials[warp] = v;
    __syncthreads();
    int nwarps = (blockDim.x + 31) >> 5;
    if (warp == 0) {
        v = lane < nwarps ? partials[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) partials[0] = v;
    }
    __syncthreads();
    float total = partials[0];
    __syncthreads();
    return total;
}
