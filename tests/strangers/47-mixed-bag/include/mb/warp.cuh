#ifndef MB_WARP_CUH
#define MB_WARP_CUH

#include <cuda_runtime.h>

namespace mb {

struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

template <class Op, class T>
__device__ __forceinline__ T warp_reduce(T v, Op op) {
#pragma unroll
    for (int m = 16; m; m >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, m));
    return v;
}

// blockDim.x must be a multiple of 32. All threads get the result.
template <class Op>
__device__ float block_reduce(float v, Op op, float neutral) {
    __shared__ float lane_results[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_reduce(v, op);
    __syncthreads();
    if (lane == 0) lane_results[warp] = v;
    __syncthreads();
    v = lane < (blockDim.x >> 5) ? lane_results[lane] : neutral;
    return warp_reduce(v, op);
}

}  // namespace mb
#endif
