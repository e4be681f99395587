static void LaunchSweeps(double *pdNew, const double *pdOld, const double *pdRhs, int nX, int nY, int nZ, double dH2, int nSweeps)
{
    const long long nOutX = 64 - 2 * (nSweeps + nSweeps % 2);
    const long long nOutY = 32 - 2 * nSweeps;
    const long long nTilesX = (nX + nOutX - 1) / nOutX;
    const long long nTilesY = (nY + nOutY - 1) / nOutY;
    const long long nTiles = nTilesX * nTilesY;

    /* few tiles: cut z too, until each multiprocessor has a block */
    long long nChunks = nTiles > 0 ? 132 / nTiles : 1;
    if (nChunks > nZ / 16)
        nChunks = nZ / 16;
    if (nChunks < 1)
        nChunks = 1;
    long long nLenZ = (nZ + nChunks - 1) / nChunks;
    if (nLenZ < 1)
        nLenZ = 1;
    nChunks = (nZ + nLenZ - 1) / nLenZ;

    const unsigned nBlocks = (unsigned)(nTiles * nChunks);
    const int nBytes = (2 * nSweeps + 5) * 16384;
    const bool bVec = ((size_t)pdNew | (size_t)pdOld | (size_t)pdRhs) % 16 == 0 && nX % 2 == 0;
    if (nSweeps == 4 && bVec)
    {
        cudaFuncSetAttribute(KernelJacobiSweep<4, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<4, true><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
    else if (nSweeps == 4)
    {
        cudaFuncSetAttribute(KernelJacobiSweep<4, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<4, false><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
    else if (nSweeps == 2 && bVec)
    {
        cudaFuncSetAttribute(KernelJacobiSweep<2, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<2, true><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
    else if (nSweeps == 2)
    {
        cudaFuncSetAttribute(KernelJacobiSweep<2, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<2, false><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
    else if (bVec)
    {
        cudaFuncSetAttribute(KernelJacobiSweep<1, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<1, true><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
    else
    {
        cudaFuncSetAttribute(KernelJacobiSweep<1, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, nBytes);
        KernelJacobiSweep<1, false><<<nBlocks, 256, nBytes>>>(pdNew, pdOld, pdRhs, nX, nY, nZ, dH2, (unsigned)nTilesX, (unsigned)nTilesY, (int)nLenZ);
    }
}

/* Two sweeps for each pair; the result is in pdU again. Every depth is used twice, which ends in pdU. */
cudaError_t Jacobi3D(double *pdU, double *pdTemp, const double *pdRhs, int nX, int nY, int nZ, int nPairs, double dH2)
{
    int n = nPairs;
    for (; n >= 4; n -= 4)
    {
        LaunchSweeps(pdTemp, pdU, pdRhs, nX, nY, nZ, dH2, 4);
        LaunchSweeps(pdU, pdTemp, pdRhs, nX, nY, nZ, dH2, 4);
    }
    if (n >= 2)
    {
        LaunchSweeps(pdTemp, pdU, pdRhs, nX, nY, nZ, dH2, 2);
        LaunchSweeps(pdU, pdTemp, pdRhs, nX, nY, nZ, dH2, 2);
        n -= 2;
    }
    if (n >= 1)
    {
        LaunchSweeps(pdTemp, pdU, pdRhs, nX, nY, nZ, dH2, 1);
        LaunchSweeps(pdU, pdTemp, pdRhs, nX, nY, nZ, dH2, 1);
    }
    return cudaGetLastError();
}