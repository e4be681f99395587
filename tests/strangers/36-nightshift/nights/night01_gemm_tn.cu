// night 1: C = A^T * B   (weight gradients want this one: dW = X^T dY)
// A is [K, M], B is [K, N], both row major, so both loads are coalesced for free.
#include <cuda_fp16.h>

constexpr int TILE = 32;
constexpr int ROWS = 8;   // block is 32 x 8, every thread owns 4 rows of the tile

__global__ void gemm_tn_kernel(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C,
                               int M, int N, int K)
{
    __shared__ __half As[TILE][TILE];   // [k][m]
    __shared__ __half Bs[TILE][TILE];   // [k][n]

    const int m0 = blockIdx.y * TILE;
    const int n0 = blockIdx.x * TILE;
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    float acc[TILE / ROWS] = {0.f, 0.f, 0.f, 0.f};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int r = ty; r < TILE; r += ROWS) {
            const int k = k0 + r;
            As[r][tx] = (k < K && m0 + tx < M) ? A[(size_t)k * M + m0 + tx] : __float2half(0.f);
            Bs[r][tx] = (k < K && n0 + tx < N) ? B[(size_t)k * N + n0 + tx] : __float2half(0.f);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < TILE; ++kk) {
            const float b = __half2float(Bs[kk][tx]);
#pragma unroll
            for (int i = 0; i < TILE / ROWS; ++i)
                acc[i] += __half2float(As[kk][ty + i * ROWS]) * b;
        }
        __syncthreads();
    }

    const int n = n0 + tx;
#pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i) {
        const int m = m0 + ty + i * ROWS;
        if (m < M && n < N) C[(size_t)m * N + n] = __float2half(acc[i]);
    }
}

void gemm_tn(const __half* A, const __half* B, __half* C, int M, int N, int K, cudaStream_t stream)
{
    dim3 block(TILE, ROWS);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_tn_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
