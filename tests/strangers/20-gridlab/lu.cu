#include "gridlab.cuh"

/* LU factorization with partial pivoting of many small matrices, column-major, in place. A block for each matrix, a thread
   for each row; nSize is at most MAX_SIZE. piPivots[k] is the row that was exchanged with row k. */
#define MAX_SIZE 32

__global__ void KernelBatchedLu(double *pdA, int *piPivots, int nSize)
{
    __shared__ double adA[MAX_SIZE][MAX_SIZE]; /* adA[column][row] */
    __shared__ int iPivot;
    double *pdMatrix = pdA + (size_t)blockIdx.x * nSize * nSize;
    int iRow = threadIdx.x;

    for (int j = 0; j < nSize; j++)
        adA[j][iRow] = pdMatrix[j * nSize + iRow];
    __syncthreads();

    for (int k = 0; k < nSize; k++)
    {
        if (iRow == 0)
        {
            int iBest = k;
            for (int i = k + 1; i < nSize; i++)
                if (fabs(adA[k][i]) > fabs(adA[k][iBest]))
                    iBest = i;
            iPivot = iBest;
            piPivots[(size_t)blockIdx.x * nSize + k] = iBest;
        }
        __syncthreads();
        /* thread j exchanges the two elements of column j */
        if (iPivot != k)
        {
            double dSwap = adA[iRow][k];
            adA[iRow][k] = adA[iRow][iPivot];
            adA[iRow][iPivot] = dSwap;
        }
        __syncthreads();
        if (iRow > k)
        {
            double dFactor = adA[k][iRow] / adA[k][k];
            adA[k][iRow] = dFactor;
            for (int j = k + 1; j < nSize; j++)
                adA[j][iRow] -= dFactor * adA[j][k];
        }
        __syncthreads();
    }

    for (int j = 0; j < nSize; j++)
        pdMatrix[j * nSize + iRow] = adA[j][iRow];
}

cudaError_t BatchedLu(double *pdA, int *piPivots, int nSize, int nBatch)
{
    KernelBatchedLu<<<nBatch, nSize>>>(pdA, piPivots, nSize);
    return cudaGetLastError();
}
