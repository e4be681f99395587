#include "gridlab.cuh"

/* One sweep of Jacobi's method for the Poisson equation, 7-point stencil. The boundary is fixed (Dirichlet). */
__global__ void KernelJacobiSweep(double *pdNew, const double *pdOld, const double *pdRhs, int nX, int nY, int nZ, double dH2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nX || j >= nY || k >= nZ)
        return;

    size_t iC = IDX3(i, j, k, nX, nY);
    if (i == 0 || j == 0 || k == 0 || i == nX - 1 || j == nY - 1 || k == nZ - 1)
    {
        pdNew[iC] = pdOld[iC];
        return;
    }
    double dSum = pdOld[IDX3(i - 1, j, k, nX, nY)] + pdOld[IDX3(i + 1, j, k, nX, nY)]
                + pdOld[IDX3(i, j - 1, k, nX, nY)] + pdOld[IDX3(i, j + 1, k, nX, nY)]
                + pdOld[IDX3(i, j, k - 1, nX, nY)] + pdOld[IDX3(i, j, k + 1, nX, nY)];
    pdNew[iC] = (dSum - dH2 * pdRhs[iC]) / 6.0;
}

/* Two sweeps for each pair; the result is in pdU again. */
cudaError_t Jacobi3D(double *pdU, double *pdTemp, const double *pdRhs, int nX, int nY, int nZ, int nPairs, double dH2)
{
    dim3 dimBlock(8, 8, 4);
    dim3 dimGrid(BLOCKS(nX, 8), BLOCKS(nY, 8), BLOCKS(nZ, 4));
    for (int n = 0; n < nPairs; n++)
    {
        KernelJacobiSweep<<<dimGrid, dimBlock>>>(pdTemp, pdU, pdRhs, nX, nY, nZ, dH2);
        KernelJacobiSweep<<<dimGrid, dimBlock>>>(pdU, pdTemp, pdRhs, nX, nY, nZ, dH2);
    }
    return cudaGetLastError();
}
