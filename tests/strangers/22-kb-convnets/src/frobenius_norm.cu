#include <cuda_runtime.h>
#include <cuda_fp16.h>

// y = x / ||x||_F.  Two passes; the sum of squares lives in a one-element workspace.

__global__ void sum_squares(const __half* __restrict__ x, float* __restrict__ acc, size_t n)
{
    __shared__ float warp_part[32];
    float v = 0.0f;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (; i < n; i += step) {
        float f = __half2float(__ldg(x + i));
        v += f * f;
    }

    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if ((threadIdx.x & 31) == 0)
        warp_part[threadIdx.x >> 5] = v;
    __syncthreads();

    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? warp_part[threadIdx.x] : 0.0f;
        for (int d = 16; d; d >>= 1)
            v += __shfl_xor_sync(0xffffffff, v, d);
        if (threadIdx.x == 0)
            atomicAdd(acc, v);
    }
}

__global__ void scale_by_norm(const __half* __restrict__ x, const float* __restrict__ acc,
                              __half* __restrict__ y, size_t n)
{
    float norm = sqrtf(__ldg(acc));
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(__half2float(__ldg(x + i)) / norm);
}

extern "C" cudaError_t frobenius_norm(const __half* x, __half* y, float* acc, int N, int C, int H, int W,
                                      cudaStream_t stream)
{
    size_t n = (size_t)N * C * H * W;
    cudaError_t e = cudaMemsetAsync(acc, 0, sizeof(float), stream);
    if (e != cudaSuccess)
        return e;
    int blocks = (int)((n + 255) / 256);
    sum_squares<<<blocks < 1024 ? blocks : 1024, 256, 0, stream>>>(x, acc, n);
    scale_by_norm<<<blocks, 256, 0, stream>>>(x, acc, y, n);
    return cudaGetLastError();
}
