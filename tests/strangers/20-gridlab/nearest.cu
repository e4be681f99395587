#include "gridlab.cuh"

/* For each point the nearest of nCenters centers: first the matrix of all squared distances, then the minimum of each row.
   Points and centers are stored by coordinates (SoA): pfPoints[iDim * nPoints + iPoint]. */
__global__ void KernelDistances(float *pfDistances, const float *pfPoints, const float *pfCenters, int nPoints, int nCenters, int nDims)
{
    int iCenter = blockIdx.x * blockDim.x + threadIdx.x;
    int iPoint = blockIdx.y * blockDim.y + threadIdx.y;
    if (iPoint < nPoints && iCenter < nCenters)
    {
        float fSum = 0.0f;
        for (int d = 0; d < nDims; d++)
        {
            float fDiff = pfPoints[(size_t)d * nPoints + iPoint] - pfCenters[d * nCenters + iCenter];
            fSum += fDiff * fDiff;
        }
        pfDistances[(size_t)iPoint * nCenters + iCenter] = fSum;
    }
}

__global__ void KernelArgmin(int *piNearest, float *pfDistance, const float *pfDistances, int nPoints, int nCenters)
{
    THREAD_1D(iPoint);
    if (iPoint >= nPoints)
        return;
    const float *pfRow = pfDistances + (size_t)iPoint * nCenters;
    int iBest = 0;
    float fBest = pfRow[0];
    for (int c = 1; c < nCenters; c++)
        if (pfRow[c] < fBest)
        {
            fBest = pfRow[c];
            iBest = c;
        }
    piNearest[iPoint] = iBest;
    pfDistance[iPoint] = sqrtf(fBest);
}

cudaError_t NearestCenter(int *piNearest, float *pfDistance, float *pfDistances, const float *pfPoints, const float *pfCenters, int nPoints, int nCenters, int nDims)
{
    dim3 dimBlock(32, 8);
    dim3 dimGrid(BLOCKS(nCenters, 32), BLOCKS(nPoints, 8));
    KernelDistances<<<dimGrid, dimBlock>>>(pfDistances, pfPoints, pfCenters, nPoints, nCenters, nDims);
    KernelArgmin<<<BLOCKS(nPoints, 64), 64>>>(piNearest, pfDistance, pfDistances, nPoints, nCenters);
    return cudaGetLastError();
}
