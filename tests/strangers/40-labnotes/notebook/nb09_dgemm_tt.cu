/* C = alpha * A^T * B^T + beta * C, double precision, row-major:  A is K x M, B is N x K, C is M x N.
   The covariance code hands its matrices over this way round. 16 x 16 tiles, padded against bank conflicts. */
#include <cuda_runtime.h>

enum { TS = 16 };

static __global__ void dgemm_tt_kernel(int M, int N, int K, double alpha, const double *__restrict__ A,
                                       const double *__restrict__ B, double beta, double *__restrict__ C)
{
    __shared__ double a[TS][TS + 1]; /* a[k][m] */
    __shared__ double b[TS][TS + 1]; /* b[n][k] */

    const int m0 = blockIdx.y * TS, n0 = blockIdx.x * TS;
    const int tx = threadIdx.x, ty = threadIdx.y;
    double sum = 0.0;

    for (int k0 = 0; k0 < K; k0 += TS) {
        a[ty][tx] = (k0 + ty < K && m0 + tx < M) ? A[(size_t)(k0 + ty) * M + m0 + tx] : 0.0;
        b[ty][tx] = (n0 + ty < N && k0 + tx < K) ? B[(size_t)(n0 + ty) * K + k0 + tx] : 0.0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TS; k++)
            sum += a[k][ty] * b[tx][k];
        __syncthreads();
    }

    const int m = m0 + ty, n = n0 + tx;
    if (m < M && n < N) {
        double *c = C + (size_t)m * N + n;
        *c = alpha * sum + beta * *c;
    }
}

extern "C" int dgemm_tt(int M, int N, int K, double alpha, const double *A, const double *B, double beta, double *C)
{
    if (M <= 0 || N <= 0)
        return 0;
    dim3 grid((N + TS - 1) / TS, (M + TS - 1) / TS);
    dgemm_tt_kernel<<<grid, dim3(TS, TS)>>>(M, N, K, alpha, A, B, beta, C);
    return (int)cudaGetLastError();
}
