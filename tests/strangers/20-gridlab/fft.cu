#include "gridlab.cuh"

/* Complex forward FFT, radix 2, decimation in time: a kernel that permutes, and one for each stage of butterflies. */
__global__ void KernelBitReverse(float2 *pcOut, const float2 *pcIn, int nSize, int nLog2)
{
    THREAD_1D(i);
    if (i >= nSize)
        return;
    int iReversed = __brev((unsigned)i) >> (32 - nLog2);
    pcOut[(size_t)blockIdx.y * nSize + iReversed] = pcIn[(size_t)blockIdx.y * nSize + i];
}

__global__ void KernelButterflies(float2 *pcData, int nSize, int nHalf)
{
    THREAD_1D(i);
    if (i >= nSize / 2)
        return;
    int iInner = i % nHalf;
    size_t iA = (size_t)blockIdx.y * nSize + (size_t)(i / nHalf) * 2 * nHalf + iInner;
    size_t iB = iA + nHalf;
    float fSin, fCos;
    sincosf(-3.14159265358979f * iInner / nHalf, &fSin, &fCos);
    float2 a = pcData[iA], b = pcData[iB];
    float fRe = b.x * fCos - b.y * fSin;
    float fIm = b.x * fSin + b.y * fCos;
    pcData[iA] = make_float2(a.x + fRe, a.y + fIm);
    pcData[iB] = make_float2(a.x - fRe, a.y - fIm);
}

/* nSize is a power of 2, at least 2 */
cudaError_t FftForward(float2 *pcOut, const float2 *pcIn, int nSize, int nBatch)
{
    int nLog2 = 0;
    while ((1 << nLog2) < nSize)
        nLog2++;
    KernelBitReverse<<<dim3(BLOCKS(nSize, 256), nBatch), 256>>>(pcOut, pcIn, nSize, nLog2);
    for (int nHalf = 1; nHalf < nSize; nHalf *= 2)
        KernelButterflies<<<dim3(BLOCKS(nSize / 2, 256), nBatch), 256>>>(pcOut, nSize, nHalf);
    return cudaGetLastError();
}
