// C = A^T * B^T, both operands stored transposed, awkward sizes.
//   A: K x M,  B: N x K,  C: M x N     all row-major bf16
#include <cuda_bf16.h>
#include <cuda_runtime.h>

const int TS = 16;

__global__ void gemmTT(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M, int N, int K)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * TS + ty;
    int n = blockIdx.x * TS + tx;

    float c = 0;
    for (int t = 0; t < (K + TS - 1) / TS; t++) {
        int ka = t * TS + tx;
        int kb = t * TS + ty;
        As[ty][tx] = (m < M && ka < K) ? __bfloat162float(A[(size_t)ka * M + m]) : 0.0f;
        Bs[ty][tx] = (n < N && kb < K) ? __bfloat162float(B[(size_t)n * K + kb]) : 0.0f;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            c += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (m < M && n < N)
        C[(size_t)m * N + n] = __float2bfloat16(c);
}

void gemm_tt(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M, int N, int K)
{
    dim3 threads(TS, TS);
    dim3 blocks((N + TS - 1) / TS, (M + TS - 1) / TS);
    gemmTT<<<blocks, threads>>>(A, B, C, M, N, K);
}
