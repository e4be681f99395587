#include "gridlab.cuh"

/* ---- separable filter, nTaps odd, replicated borders ---- */

__global__ void KernelFilterRows(float *pfOut, const float *pfIn, const float *pfTaps, int nTaps, int nWidth, int nHeight, int nImages)
{
    THREAD_1D(iPixel);
    if (iPixel >= nImages * nHeight * nWidth)
        return;
    int x = iPixel % nWidth;
    const float *pfRow = pfIn + (iPixel - x);
    float fSum = 0.0f;
    for (int t = 0; t < nTaps; t++)
    {
        int xx = CLAMP(x + t - nTaps / 2, 0, nWidth - 1);
        fSum += pfTaps[t] * pfRow[xx];
    }
    pfOut[iPixel] = fSum;
}

__global__ void KernelFilterColumns(float *pfOut, const float *pfIn, const float *pfTaps, int nTaps, int nWidth, int nHeight, int nImages)
{
    THREAD_1D(iPixel);
    if (iPixel >= nImages * nHeight * nWidth)
        return;
    int x = iPixel % nWidth;
    int y = iPixel / nWidth % nHeight;
    int iImage = iPixel / (nWidth * nHeight);
    float fSum = 0.0f;
    for (int t = 0; t < nTaps; t++)
    {
        int yy = CLAMP(y + t - nTaps / 2, 0, nHeight - 1);
        fSum += pfTaps[t] * pfIn[((size_t)iImage * nHeight + yy) * nWidth + x];
    }
    pfOut[iPixel] = fSum;
}

cudaError_t SeparableFilter(float *pfOut, const float *pfIn, float *pfTemp, const float *pfTapsX, const float *pfTapsY, int nTaps, int nWidth, int nHeight, int nImages)
{
    int nPixels = nImages * nHeight * nWidth;
    KernelFilterRows<<<BLOCKS(nPixels, 256), 256>>>(pfTemp, pfIn, pfTapsX, nTaps, nWidth, nHeight, nImages);
    KernelFilterColumns<<<BLOCKS(nPixels, 256), 256>>>(pfOut, pfTemp, pfTapsY, nTaps, nWidth, nHeight, nImages);
    return cudaGetLastError();
}

/* ---- bilateral filter ---- */

__global__ void KernelBilateral(float *pfOut, const float *pfIn, int nWidth, int nHeight, int nRadius, float fSpace, float fRange)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nWidth || y >= nHeight)
        return;
    float fCenter = pfIn[y * nWidth + x];
    float fSum = 0.0f, fWeights = 0.0f;
    for (int dy = -nRadius; dy <= nRadius; dy++)
        for (int dx = -nRadius; dx <= nRadius; dx++)
        {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= nWidth || yy >= nHeight)
                continue;
            float f = pfIn[yy * nWidth + xx];
            float fDiff = f - fCenter;
            float fWeight = expf(-(dx * dx + dy * dy) / (2.0f * fSpace * fSpace) - fDiff * fDiff / (2.0f * fRange * fRange));
            fSum += fWeight * f;
            fWeights += fWeight;
        }
    pfOut[y * nWidth + x] = fSum / fWeights;
}

cudaError_t BilateralFilter(float *pfOut, const float *pfIn, int nWidth, int nHeight, int nRadius, float fSpace, float fRange)
{
    dim3 dimBlock(16, 16);
    dim3 dimGrid(BLOCKS(nWidth, 16), BLOCKS(nHeight, 16));
    KernelBilateral<<<dimGrid, dimBlock>>>(pfOut, pfIn, nWidth, nHeight, nRadius, fSpace, fRange);
    return cudaGetLastError();
}
