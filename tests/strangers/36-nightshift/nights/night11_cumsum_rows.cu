// night 11: inclusive cumulative sum along the last dimension, a block per row, warp shuffles and a carry
#include <cuda_runtime.h>

template <typename T>
__device__ T warp_inclusive_scan(T v)
{
    const int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
        const T up = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += up;
    }
    return v;
}

template <typename T, int BLOCK>
__global__ void cumsum_rows_kernel(const T* __restrict__ in, T* __restrict__ out, int cols)
{
    constexpr int WARPS = BLOCK / 32;
    __shared__ T warp_totals[WARPS];

    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    in += (size_t)blockIdx.x * cols;
    out += (size_t)blockIdx.x * cols;

    T carry = 0;
    for (int base = 0; base < cols; base += BLOCK) {
        const int c = base + threadIdx.x;
        T v = warp_inclusive_scan<T>(c < cols ? in[c] : T(0));
        if (lane == 31) warp_totals[warp] = v;
        __syncthreads();

        T before = 0, total = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            if (w == warp) before = total;
            total += warp_totals[w];
        }
        if (c < cols) out[c] = carry + before + v;
        carry += total;
        __syncthreads();
    }
}

void cumsum_rows(const float* in, float* out, int rows, int cols, cudaStream_t stream)
{
    cumsum_rows_kernel<float, 256><<<rows, 256, 0, stream>>>(in, out, cols);
}
