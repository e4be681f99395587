#pragma once
// Block-wide primitives, in the spirit of CUB but short.
#include <cuda_runtime.h>

namespace hc {

template <typename T> struct Sum { static __device__ T identity() { return T(0); } __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct Prod { static __device__ T identity() { return T(1); } __device__ T operator()(T a, T b) const { return a * b; } };
template <typename T> struct Max;
template <> struct Max<float> { static __device__ float identity() { return -INFINITY; } __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
template <> struct Max<int> { static __device__ int identity() { return -2147483647 - 1; } __device__ int operator()(int a, int b) const { return a > b ? a : b; } };

template <int BLOCK_THREADS, typename T, typename Op>
struct BlockReduce {
    static constexpr int WARPS = BLOCK_THREADS / 32;
    struct TempStorage { T warp[WARPS]; };
    TempStorage& temp;
    __device__ explicit BlockReduce(TempStorage& t) : temp(t) {}
    // valid in thread 0
    __device__ T reduce(T x, Op op = Op()) {
#pragma unroll
        for (int d = 16; d > 0; d >>= 1) x = op(x, __shfl_down_sync(0xffffffffu, x, d));
        if ((threadIdx.x & 31) == 0) temp.warp[threadIdx.x >> 5] = x;
        __syncthreads();
        if (threadIdx.x == 0) {
#pragma unroll
            for (int w = 1; w < WARPS; ++w) x = op(x, temp.warp[w]);
        }
        return x;
    }
};

template <int BLOCK_THREADS, typename T, typename Op>
struct BlockScan {
    static constexpr int WARPS = BLOCK_THREADS / 32;
    struct TempStorage { T warp[WARPS]; };
    TempStorage& temp;
    __device__ explicit BlockScan(TempStorage& t) : temp(t) {}
    __device__ void inclusive(T x, T& out, T& total, Op op = Op()) {
        const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            T y = __shfl_up_sync(0xffffffffu, x, d);
            if (lane >= d) x = op(y, x);
        }
        if (lane == 31) temp.warp[w] = x;
        __syncthreads();
        T prefix = Op::identity(), sum = Op::identity();
#pragma unroll
        for (int i = 0; i < WARPS; ++i) {
            if (i == w) prefix = sum;
            sum = op(sum, temp.warp[i]);
        }
        out = op(prefix, x);
        total = sum;
        __syncthreads();
    }
};

}  // namespace hc
