#include "gridlab.cuh"

/* Exclusive prefix sums of integers in three kernels. A block scans SCAN_BLOCK elements (Hillis and Steele). */
#define SCAN_BLOCK 512

__global__ void KernelScanBlocks(int *piOut, int *piSums, const int *piIn, int nCount)
{
    __shared__ int aiBuffer[2][SCAN_BLOCK];
    int iThread = threadIdx.x;
    int i = blockIdx.x * SCAN_BLOCK + iThread;
    int iValue = i < nCount ? piIn[i] : 0;
    int iFrom = 0;
    aiBuffer[0][iThread] = iValue;
    __syncthreads();
    for (int nOffset = 1; nOffset < SCAN_BLOCK; nOffset *= 2)
    {
        int iSum = aiBuffer[iFrom][iThread];
        if (iThread >= nOffset)
            iSum += aiBuffer[iFrom][iThread - nOffset];
        aiBuffer[1 - iFrom][iThread] = iSum;
        iFrom = 1 - iFrom;
        __syncthreads();
    }
    int iInclusive = aiBuffer[iFrom][iThread];
    if (i < nCount)
        piOut[i] = iInclusive - iValue;
    if (iThread == SCAN_BLOCK - 1)
        piSums[blockIdx.x] = iInclusive;
}

__global__ void KernelScanSums(int *piSums, int nBlocks)
{
    int iTotal = 0;
    for (int b = 0; b < nBlocks; b++)
    {
        int iSum = piSums[b];
        piSums[b] = iTotal;
        iTotal += iSum;
    }
}

__global__ void KernelAddOffsets(int *piOut, const int *piSums, int nCount)
{
    int i = blockIdx.x * SCAN_BLOCK + threadIdx.x;
    if (i < nCount)
        piOut[i] += piSums[blockIdx.x];
}

cudaError_t ExclusiveScan(int *piOut, const int *piIn, int *piSums, int nCount)
{
    int nBlocks = BLOCKS(nCount, SCAN_BLOCK);
    KernelScanBlocks<<<nBlocks, SCAN_BLOCK>>>(piOut, piSums, piIn, nCount);
    KernelScanSums<<<1, 1>>>(piSums, nBlocks);
    KernelAddOffsets<<<nBlocks, SCAN_BLOCK>>>(piOut, piSums, nCount);
    return cudaGetLastError();
}
