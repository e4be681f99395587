// C = tril(A) * tril(B). The product is lower triangular too; blocks above the diagonal only write zeros, and the sum
// runs from the column to the row. What is stored above the diagonals of A and B is never used.
#include <cuda_runtime.h>

constexpr int T = 32;

__global__ void __launch_bounds__(T* T) tril_matmul_kernel(const float* __restrict__ A, const float* __restrict__ B,
                                                            float* __restrict__ C, int n)
{
    __shared__ float sA[T][T + 1];
    __shared__ float sB[T][T + 1];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty;
    const int col = blockIdx.x * T + tx;

    if (blockIdx.x > blockIdx.y) {
        if (row < n && col < n) C[(size_t)row * n + col] = 0.f;
        return;
    }

    float acc = 0.f;
    for (int kt = blockIdx.x; kt <= (int)blockIdx.y; ++kt) {
        const int ka = kt * T + tx;
        const int kb = kt * T + ty;
        sA[ty][tx] = (row < n && ka <= row) ? A[(size_t)row * n + ka] : 0.f;
        sB[ty][tx] = (kb < n && col <= kb) ? B[(size_t)kb * n + col] : 0.f;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < T; ++k) acc = fmaf(sA[ty][k], sB[k][tx], acc);
        __syncthreads();
    }
    if (row < n && col < n) C[(size_t)row * n + col] = (col <= row) ? acc : 0.f;
}

extern "C" cudaError_t tril_matmul(const float* A, const float* B, float* C, int n, cudaStream_t stream)
{
    if (n <= 0) return cudaErrorInvalidValue;
    const int tiles = (n + T - 1) / T;
    tril_matmul_kernel<<<dim3(tiles, tiles), dim3(T, T), 0, stream>>>(A, B, C, n);
    return cudaGetLastError();
}
