// Products of many small dense matrices, as they come out of the element loop:
//     C_m = alpha * A_m * B_m^T + beta * C_m        (row major, DIM x DIM doubles each)
// A few matrices share a block so that its threads are used.
#include <cuda_runtime.h>

template <int DIM, int PER_BLOCK>
__global__ void small_dgemm_nt_kernel(const double* __restrict__ A, const double* __restrict__ B,
                                      double* __restrict__ C, double alpha, double beta, int batch)
{
    __shared__ double sa[PER_BLOCK][DIM * DIM];
    __shared__ double sb[PER_BLOCK][DIM * DIM];

    const int e = threadIdx.x;                      // which element of the matrix
    const int slot = threadIdx.y;                   // which matrix of the block
    const int m = blockIdx.x * PER_BLOCK + slot;
    const size_t base = (size_t)m * (DIM * DIM);

    if (m < batch) {
        sa[slot][e] = A[base + e];
        sb[slot][e] = B[base + e];
    }
    __syncthreads();
    if (m >= batch) return;

    const int r = e / DIM;
    const int c = e % DIM;
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < DIM; ++k)
        acc += sa[slot][r * DIM + k] * sb[slot][c * DIM + k];

    C[base + e] = alpha * acc + beta * C[base + e];
}

template <int DIM, int PER_BLOCK>
static cudaError_t launch_small_dgemm_nt(const double* A, const double* B, double* C, double alpha, double beta,
                                         int batch, cudaStream_t stream)
{
    if (batch <= 0) return cudaSuccess;
    const dim3 threads(DIM * DIM, PER_BLOCK);
    const int blocks = (batch + PER_BLOCK - 1) / PER_BLOCK;
    small_dgemm_nt_kernel<DIM, PER_BLOCK><<<blocks, threads, 0, stream>>>(A, B, C, alpha, beta, batch);
    return cudaGetLastError();
}

// 6 x 6: shells with three displacements and three rotations per node
cudaError_t small_dgemm6_nt(const double* A, const double* B, double* C, double alpha, double beta, int batch,
                            cudaStream_t stream)
{
    return launch_small_dgemm_nt<6, 7>(A, B, C, alpha, beta, batch, stream);
}
