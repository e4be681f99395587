// Reverse masked cumulative sum along the last axis:
//   y[r][l] = sum over j >= l of (mask[r][j] ? x[r][j] : 0)
#include <cuda_fp16.h>

template <int THREADS>
__global__ void __launch_bounds__(THREADS) masked_rcumsum_kernel(const __half* __restrict__ x,
                                                                 const bool* __restrict__ mask,
                                                                 __half* __restrict__ y, int length) {
    constexpr int WARPS = THREADS / 32;
    __shared__ float totals[WARPS];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const size_t row = (size_t)blockIdx.x * length;

    float carry = 0.0f;
    for (int base = 0; base < length; base += THREADS) {
        const int from_end = base + (int)threadIdx.x;
        const int col = length - 1 - from_end;

        float v = 0.0f;
        if (col >= 0 && mask[row + col]) v = __half2float(x[row + col]);

#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float below = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += below;
        }
        if (lane == 31) totals[warp] = v;
        __syncthreads();

        float before = carry, all = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) before += totals[w];
            all += totals[w];
        }
        if (col >= 0) y[row + col] = __float2half(before + v);
        carry += all;
        __syncthreads();
    }
}

void masked_reverse_cumsum(const __half* x, const bool* mask, __half* y, int rows, int length) {
    masked_rcumsum_kernel<256><<<rows, 256>>>(x, mask, y, length);
}
