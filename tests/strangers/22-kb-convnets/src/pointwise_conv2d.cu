#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "tile_utils.cuh"

#define TS 16

// 1x1 convolution as a batched GEMM:  Y[n] (K x HW) = Wt (K x C) * X[n] (C x HW)
__global__ void pointwise_kernel(const __half* x, const __half* wt, __half* y,
                                 int C, int K, int HW)
{
    __shared__ __half Ws[TS][TS];
    __shared__ __half Xs[TS][TS];

    int p = blockIdx.x * TS + threadIdx.x;
    int k = blockIdx.y * TS + threadIdx.y;
    int n = blockIdx.z;

    const __half* xn = x + (size_t)n * C * HW;
    float sum = 0.0f;

    for (int c0 = 0; c0 < C; c0 += TS) {
        int cw = c0 + threadIdx.x;
        int cx = c0 + threadIdx.y;
        Ws[threadIdx.y][threadIdx.x] = (k < K && cw < C) ? wt[k * C + cw] : __float2half(0.0f);
        Xs[threadIdx.y][threadIdx.x] = (p < HW && cx < C) ? xn[(size_t)cx * HW + p] : __float2half(0.0f);
        __syncthreads();

        #pragma unroll
        for (int i = 0; i < TS; i++)
            sum += __half2float(Ws[threadIdx.y][i]) * __half2float(Xs[i][threadIdx.x]);
        __syncthreads();
    }

    if (p < HW && k < K)
        y[((size_t)n * K + k) * HW + p] = __float2half(sum);
}

extern "C" void pointwise_conv2d(const __half* x, const __half* wt, __half* y,
                                 int N, int C, int H, int W, int K)
{
    int HW = H * W;
    dim3 threads(TS, TS);
    dim3 blocks(div_up(HW, TS), div_up(K, TS), N);
    pointwise_kernel<<<blocks, threads>>>(x, wt, y, C, K, HW);
}
