__device__ __forceinline__ void CopyAsync16(float *pfTo, const float *pfFrom)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned int)__cvta_generic_to_shared(pfTo)), "l"(pfFrom) : "memory");
}

__device__ __forceinline__ void CopyAsync4(float *pfTo, const float *pfFrom)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned int)__cvta_generic_to_shared(pfTo)), "l"(pfFrom) : "memory");
}

/* A warp copies 144 floats of a row, from 8 before pfRow, with replicated borders; nLow and nHigh are the offsets of the
   first and of the last column of the image from pfRow. */
template <bool kVec>
__device__ __forceinline__ void CopyRow(float *pfSlot, const float *pfRow, int iLane, int nLow, int nHigh)
{
#pragma unroll
    for (int q = iLane; q < 36; q += 32)
    {
        const int iCol = 4 * q - 8;
        if (kVec && iCol >= nLow && iCol + 3 <= nHigh)
            CopyAsync16(pfSlot + 4 * q, pfRow + iCol);
        else
        {
#pragma unroll
            for (int e = 0; e < 4; e++)
                CopyAsync4(pfSlot + 4 * q + e, pfRow + CLAMP(iCol + e, nLow, nHigh));
        }
    }
}

/* Both filters at once: a warp marches down a strip of 128 columns, four a lane. Rows arrive in a ring in shared memory,
   seven ahead; each filtered row goes through the partial sums of the column filter, fSum[j] holding the first j + 1 taps. */
template <int kTaps, bool kVec>
__global__ void __launch_bounds__(128, @PERSM@) KernelSeparable(float *pfOut, const float *pfIn, const float *pfTapsX, const float *pfTapsY, int nWidth, int nHeight, int nTilesX, int nSegments, int nRowsPer, int nTasks)
{
    constexpr int R = kTaps / 2;
    __shared__ __align__(16) float fRing[4][8][144];
    const int iLane = threadIdx.x & 31;
    const unsigned int iTask = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (iTask >= (unsigned int)nTasks)
        return;
    const int iTile = (int)(iTask % nTilesX);
    const int iStrip = (int)(iTask / nTilesX);
    const int x0 = iTile * 128;
    const int y0 = iStrip % nSegments * nRowsPer;
    const int nRows = min(nRowsPer, nHeight - y0);
    const int nTotal = nRows + kTaps - 1;
    const int nLow = -x0, nHigh = nWidth - 1 - x0;
    const size_t nOffset = (size_t)(iStrip / nSegments) * nHeight * nWidth + x0;
    const float *pfSource = pfIn + nOffset;
    float *pfTarget = pfOut + nOffset + (size_t)y0 * nWidth;
    float(*pfRing)[144] = fRing[threadIdx.x >> 5];

    float fTapX[kTaps], fTapY[kTaps];
#pragma unroll
    for (int t = 0; t < kTaps; t++)
    {
        fTapX[t] = pfTapsX[t];
        fTapY[t] = pfTapsY[t];
    }
    float fSum[kTaps - 1][4];
#pragma unroll
    for (int j = 0; j < kTaps - 1; j++)
    {
#pragma unroll
        for (int c = 0; c < 4; c++)
            fSum[j][c] = 0.0f;
    }

#pragma unroll 1
    for (int i = 0; i < 7; i++)
    {
        if (i < nTotal)
            CopyRow<kVec>(pfRing[i], pfSource + (size_t)CLAMP(y0 + i - R, 0, nHeight - 1) * nWidth, iLane, nLow, nHigh);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

#pragma unroll 1
    for (int i = 0; i < nTotal; i++)
    {
        /* row i is there for all lanes, and all lanes are done with row i - 1, whose slot is filled next */
        asm volatile("cp.async.wait_group 6;" ::: "memory");
        __syncwarp();
        if (i + 7 < nTotal)
            CopyRow<kVec>(pfRing[(i + 7) & 7], pfSource + (size_t)CLAMP(y0 + i + 7 - R, 0, nHeight - 1) * nWidth, iLane, nLow, nHigh);
        asm volatile("cp.async.commit_group;" ::: "memory");

        const float4 *pfSlot = (const float4 *)pfRing[i & 7] + iLane;
        float h[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int j = 0; j < 5; j++)
        {
            const float4 v4 = pfSlot[j];
            const float v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
            for (int e = 0; e < 4; e++)
            {
#pragma unroll
                for (int c = 0; c < 4; c++)
                {
                    const int t = 4 * j + e - 8 - c + R;
                    if (t >= 0 && t < kTaps)
                        h[c] = fmaf(fTapX[t], v[e], h[c]);
                }
            }
        }

        float fResult[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            fResult[c] = fmaf(fTapY[kTaps - 1], h[c], fSum[kTaps - 2][c]);
#pragma unroll
        for (int j = kTaps - 2; j > 0; j--)
        {
#pragma unroll
            for (int c = 0; c < 4; c++)
                fSum[j][c] = fmaf(fTapY[j], h[c], fSum[j - 1][c]);
        }
#pragma unroll
        for (int c = 0; c < 4; c++)
            fSum[0][c] = fmaf(fTapY[0], h[c], 0.0f);

        if (i >= kTaps - 1)
        {
            if (kVec)
            {
                if (4 * iLane <= nHigh)
                    *(float4 *)(pfTarget + 4 * iLane) = make_float4(fResult[0], fResult[1], fResult[2], fResult[3]);
            }
            else
            {
#pragma unroll
                for (int c = 0; c < 4; c++)
                    if (4 * iLane + c <= nHigh)
                        pfTarget[4 * iLane + c] = fResult[c];
            }
            pfTarget += nWidth;
        }
    }
}

static bool Overlap(const void *pA, size_t nA, const void *pB, size_t nB)
{
    return (size_t)pA < (size_t)pB + nB && (size_t)pB < (size_t)pA + nA;
}

template <int kTaps>
static void LaunchSeparable(bool bVec, int nBlocks, float *pfOut, const float *pfIn, const float *pfTapsX, const float *pfTapsY, int nWidth, int nHeight, int nTilesX, int nSegments, int nRowsPer, int nTasks)
{
    if (bVec)
        KernelSeparable<kTaps, true><<<nBlocks, 128>>>(pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
    else
        KernelSeparable<kTaps, false><<<nBlocks, 128>>>(pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
}

cudaError_t SeparableFilter(float *pfOut, const float *pfIn, float *pfTemp, const float *pfTapsX, const float *pfTapsY, int nTaps, int nWidth, int nHeight, int nImages)
{
    int nPixels = nImages * nHeight * nWidth;
    bool bFused = nWidth > 0 && nHeight > 0 && nImages > 0 && nTaps >= 3 && nTaps <= 11 && nTaps % 2 == 1;
    if (bFused)
    {
        /* the two kernels bear an output in the place of the input, the fused one does not */
        const size_t nTapBytes = (size_t)nTaps * sizeof(float);
        const long long nRowsAll = (long long)nImages * nHeight;
        bFused = nRowsAll <= 2147483392 && nRowsAll * nWidth <= 2147483392;
        const size_t nBytes = bFused ? (size_t)nRowsAll * nWidth * sizeof(float) : 0;
        bFused = bFused && !Overlap(pfOut, nBytes, pfIn, nBytes) && !Overlap(pfOut, nBytes, pfTapsX, nTapBytes) && !Overlap(pfOut, nBytes, pfTapsY, nTapBytes);
    }
    if (bFused)
    {
        const int nTilesX = (nWidth - 1) / 128 + 1;
        long long nWanted = 132 * 4 * @PERSM@ / ((long long)nTilesX * nImages);
        if (nWanted > (nHeight - 1) / 16 + 1)
            nWanted = (nHeight - 1) / 16 + 1;
        if (nWanted < 1)
            nWanted = 1;
        const int nRowsPer = (int)((nHeight + nWanted - 1) / nWanted);
        const int nSegments = (nHeight - 1) / nRowsPer + 1;
        const int nTasks = (int)((long long)nTilesX * nSegments * nImages);
        const int nBlocks = nTasks / 4 + (nTasks % 4 != 0);
        const bool bVec = nWidth % 4 == 0 && (((size_t)pfIn | (size_t)pfOut) & 15) == 0;
        if (nTaps == 3)
            LaunchSeparable<3>(bVec, nBlocks, pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
        else if (nTaps == 5)
            LaunchSeparable<5>(bVec, nBlocks, pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
        else if (nTaps == 7)
            LaunchSeparable<7>(bVec, nBlocks, pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
        else if (nTaps == 9)
            LaunchSeparable<9>(bVec, nBlocks, pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
        else
            LaunchSeparable<11>(bVec, nBlocks, pfOut, pfIn, pfTapsX, pfTapsY, nWidth, nHeight, nTilesX, nSegments, nRowsPer, nTasks);
        return cudaGetLastError();
    }
    KernelFilterRows<<<BLOCKS(nPixels, 256), 256>>>(pfTemp, pfIn, pfTapsX, nTaps, nWidth, nHeight, nImages);
    KernelFilterColumns<<<BLOCKS(nPixels, 256), 256>>>(pfOut, pfTemp, pfTapsY, nTaps, nWidth, nHeight, nImages);
    return cudaGetLastError();
}