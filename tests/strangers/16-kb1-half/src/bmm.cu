// batched matmul, second operand transposed: C[b] = A[b] * B[b]^T
#include "util.cuh"

__global__ void bmm_nt_kernel(const half* A, const half* B, half* C, int batch, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    int b = blockIdx.z;
    if (m < M && n < N) {
        const half* a_row = A + ((size_t)b * M + m) * K;
        const half* b_row = B + ((size_t)b * N + n) * K;
        float acc = 0.f;
        for (int k = 0; k < K; ++k) acc += __half2float(a_row[k]) * __half2float(b_row[k]);
        C[((size_t)b * M + m) * N + n] = __float2half(acc);
    }
}

void bmm_nt(const half* A, const half* B, half* C, int batch, int M, int N, int K) {
    dim3 block(32, 8, 1);
    dim3 grid(CEIL_DIV(N, 32), CEIL_DIV(M, 8), batch);
    bmm_nt_kernel<<<grid, block>>>(A, B, C, batch, M, N, K);
}
