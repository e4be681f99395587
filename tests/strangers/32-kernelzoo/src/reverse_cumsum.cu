// x.flip(1).cumsum(1).flip(1) in fp16: a block walks a row from its right end in chunks of one element per thread.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <int THREADS>
__global__ void reverse_cumsum_kernel(const __half* __restrict__ x, __half* __restrict__ y, int cols)
{
    constexpr int WARPS = THREADS / 32;
    __shared__ float warp_total[WARPS];

    const __half* xr = x + (size_t)blockIdx.x * cols;
    __half* yr = y + (size_t)blockIdx.x * cols;
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;

    float carry = 0.f;
    for (int base = 0; base < cols; base += THREADS) {
        const int pos = cols - 1 - (base + (int)threadIdx.x);     // mirrored
        float v = pos >= 0 ? __half2float(xr[pos]) : 0.f;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float up = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += up;
        }
        if (lane == 31) warp_total[warp] = v;
        __syncthreads();
        float before = 0.f, all = 0.f;
#pragma unroll
        for (int i = 0; i < WARPS; ++i) {
            const float t = warp_total[i];
            if (i < warp) before += t;
            all += t;
        }
        if (pos >= 0) yr[pos] = __float2half(carry + before + v);
        carry += all;
        __syncthreads();
    }
}

void reverse_cumsum_half(const __half* x, __half* y, int rows, int cols, cudaStream_t stream)
{
    if (rows <= 0 || cols <= 0) return;
    if (cols <= 128)
        reverse_cumsum_kernel<64><<<rows, 64, 0, stream>>>(x, y, cols);
    else
        reverse_cumsum_kernel<256><<<rows, 256, 0, stream>>>(x, y, cols);
}
