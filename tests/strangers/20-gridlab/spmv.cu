#include "gridlab.cuh"

/* y = alpha * A * x + beta * y. A is sparse, in CSR with four arrays: row r has the elements
   piStart[r] ... piStart[r] + piLength[r] - 1, so that rows need not be in order and may have room to grow. */
__global__ void KernelSpmvCsr(double *pdY, const double *pdValues, const int *piColumns, const int *piStart, const int *piLength, const double *pdX, int nRows, double dAlpha, double dBeta)
{
    THREAD_1D(iRow);
    if (iRow < nRows)
    {
        double dSum = 0.0;
        int iEnd = piStart[iRow] + piLength[iRow];
        for (int i = piStart[iRow]; i < iEnd; i++)
            dSum += pdValues[i] * pdX[piColumns[i]];
        pdY[iRow] = dAlpha * dSum + dBeta * pdY[iRow];
    }
}

cudaError_t SpmvCsr(double *pdY, const double *pdValues, const int *piColumns, const int *piStart, const int *piLength, const double *pdX, int nRows, int nColumns, int nElements, double dAlpha, double dBeta)
{
    if (nRows == 0 || nColumns == 0 || nElements == 0)
        return cudaSuccess;
    KernelSpmvCsr<<<BLOCKS(nRows, 128), 128>>>(pdY, pdValues, piColumns, piStart, piLength, pdX, nRows, dAlpha, dBeta);
    return cudaGetLastError();
}
