// Product of two upper triangular matrices.
// C = triu(A @ B), only k in [row, col] contributes.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void triu_matmul_kernel(const __half* A, const __half* B, __half* C, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= N || col >= N) return;

    float sum = 0.0f;
    if (row <= col) {
        for (int k = row; k <= col; ++k) {
            sum += __half2float(A[(size_t)row * N + k]) * __half2float(B[(size_t)k * N + col]);
        }
    }
    C[(size_t)row * N + col] = __float2half(sum);
}

void triu_matmul(const __half* A, const __half* B, __half* C, int N, cudaStream_t stream = nullptr) {
    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (N + 15) / 16);
    triu_matmul_kernel<<<blocks, threads, 0, stream>>>(A, B, C, N);
}
