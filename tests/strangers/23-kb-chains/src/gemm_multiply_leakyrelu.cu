#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "activations.cuh"

#define TILE 16

// y = x * w^T + b    x: [M, K]  w: [N, K]  b: [N]
__global__ void linear_tiled(const __half* x, const __half* w, const __half* b, __half* y, int M, int N, int K)
{
    __shared__ float xs[TILE][TILE];
    __shared__ float ws[TILE][TILE + 1];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    int wrow = blockIdx.x * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int t = 0; t < K; t += TILE) {
        int kk = t + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] = (row < M && kk < K) ? __half2float(x[(size_t)row * K + kk]) : 0.0f;
        ws[threadIdx.y][threadIdx.x] = (wrow < N && kk < K) ? __half2float(w[(size_t)wrow * K + kk]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += xs[threadIdx.y][i] * ws[threadIdx.x][i];
        __syncthreads();
    }

    if (row < M && col < N)
        y[(size_t)row * N + col] = __float2half(sum + __half2float(b[col]));
}

__global__ void multiply_leaky_relu(__half* y, long long n, float multiplier, float slope)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(act_leaky_relu(__half2float(y[i]) * multiplier, slope));
}

extern "C" void gemm_multiply_leakyrelu(const __half* x, const __half* w, const __half* b, __half* y,
                                        int M, int N, int K, float multiplier, float slope)
{
    dim3 threads(TILE, TILE);
    dim3 blocks(grid_for(N, TILE), grid_for(M, TILE));
    linear_tiled<<<blocks, threads>>>(x, w, b, y, M, N, K);

    long long n = (long long)M * N;
    multiply_leaky_relu<<<grid_for(n, 256), 256>>>(y, n, multiplier, slope);
}
