// Half precision product with both operands stored "the wrong way round":
//   C[m][n] = sum_k A[k][m] * B[n][k]       A: K x M, B: N x K, C: M x N, all row-major
#include <cuda_fp16.h>

constexpr int TS = 24;  // 24 x 24 threads = 18 warps

__global__ void gemm_tt_kernel(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C,
                               int M, int N, int K) {
    __shared__ float As[TS][TS];      // [k][m]
    __shared__ float Bs[TS][TS + 1];  // [n][k]

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int m0 = blockIdx.y * TS;
    const int n0 = blockIdx.x * TS;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TS) {
        As[ty][tx] = (k0 + ty < K && m0 + tx < M) ? __half2float(A[(size_t)(k0 + ty) * M + m0 + tx]) : 0.0f;
        Bs[ty][tx] = (n0 + ty < N && k0 + tx < K) ? __half2float(B[(size_t)(n0 + ty) * K + k0 + tx]) : 0.0f;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < TS; ++kk) acc += As[kk][ty] * Bs[tx][kk];
        __syncthreads();
    }

    if (m0 + ty < M && n0 + tx < N) C[(size_t)(m0 + ty) * N + n0 + tx] = __float2half(acc);
}

void gemm_tt(const half* A, const half* B, half* C, int M, int N, int K) {
    dim3 block(TS, TS);
    dim3 grid((N + TS - 1) / TS, (M + TS - 1) / TS);
    gemm_tt_kernel<<<grid, block>>>(A, B, C, M, N, K);
}
