// product of two lower triangular matrices; the result is lower triangular as well, zeros above
#include "util.cuh"

__global__ void tril_matmul_kernel(const half* A, const half* B, half* C, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < N && col < N) {
        float sum = 0.0f;
        if (col <= row) {
            for (int k = col; k <= row; k++)
                sum += __half2float(A[row * N + k]) * __half2float(B[k * N + col]);
        }
        C[row * N + col] = __float2half(sum);
    }
}

void tril_matmul(const half* A, const half* B, half* C, int N) {
    dim3 block(16, 16);
    dim3 grid(CEIL_DIV(N, 16), CEIL_DIV(N, 16));
    tril_matmul_kernel<<<grid, block>>>(A, B, C, N);
}
