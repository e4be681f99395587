// KernelBench L1 #9: A is tall and skinny, B is short and wide, K is tiny.
#include "util.cuh"

__global__ void tall_skinny_matmul_kernel(const half* A, const half* B, half* C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    C[row * N + col] = __float2half(sum);
}

void tall_skinny_matmul(const half* A, const half* B, half* C, int M, int N, int K) {
    dim3 block(16, 16);
    dim3 grid(CEIL_DIV(N, 16), CEIL_DIV(M, 16));
    tall_skinny_matmul_kernel<<<grid, block>>>(A, B, C, M, N, K);
}
