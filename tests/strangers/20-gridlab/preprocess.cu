#include "gridlab.cuh"

/* An RGB image (interleaved bytes) is resized bilinearly and converted to planes Y, Cb, Cr (BT.601, full range) in 0 ... 1. */
__device__ float SampleBilinear(const unsigned char *pbImage, int nWidth, int nHeight, float fX, float fY, int iChannel)
{
    fX = CLAMP(fX, 0.0f, (float)(nWidth - 1));
    fY = CLAMP(fY, 0.0f, (float)(nHeight - 1));
    int x0 = (int)fX, y0 = (int)fY;
    int x1 = x0 + 1 < nWidth ? x0 + 1 : x0;
    int y1 = y0 + 1 < nHeight ? y0 + 1 : y0;
    float fU = fX - x0, fV = fY - y0;
    float f00 = pbImage[(y0 * nWidth + x0) * 3 + iChannel];
    float f01 = pbImage[(y0 * nWidth + x1) * 3 + iChannel];
    float f10 = pbImage[(y1 * nWidth + x0) * 3 + iChannel];
    float f11 = pbImage[(y1 * nWidth + x1) * 3 + iChannel];
    return (1.0f - fV) * ((1.0f - fU) * f00 + fU * f01) + fV * ((1.0f - fU) * f10 + fU * f11);
}

__global__ void KernelResizeYCbCr(float *pfOut, const unsigned char *pbIn, int nWidth, int nHeight, int nOutWidth, int nOutHeight)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nOutWidth || y >= nOutHeight)
        return;
    const unsigned char *pbImage = pbIn + (size_t)blockIdx.z * nHeight * nWidth * 3;
    float fX = (x + 0.5f) * nWidth / nOutWidth - 0.5f;
    float fY = (y + 0.5f) * nHeight / nOutHeight - 0.5f;
    float fR = SampleBilinear(pbImage, nWidth, nHeight, fX, fY, 0) / 255.0f;
    float fG = SampleBilinear(pbImage, nWidth, nHeight, fX, fY, 1) / 255.0f;
    float fB = SampleBilinear(pbImage, nWidth, nHeight, fX, fY, 2) / 255.0f;

    size_t nPlane = (size_t)nOutHeight * nOutWidth;
    float *pfImage = pfOut + blockIdx.z * 3 * nPlane + (size_t)y * nOutWidth + x;
    float fLuma = 0.299f * fR + 0.587f * fG + 0.114f * fB;
    pfImage[0] = fLuma;
    pfImage[nPlane] = 0.5f + 0.564f * (fB - fLuma);
    pfImage[2 * nPlane] = 0.5f + 0.713f * (fR - fLuma);
}

cudaError_t ResizeYCbCr(float *pfOut, const unsigned char *pbIn, int nWidth, int nHeight, int nOutWidth, int nOutHeight, int nImages)
{
    dim3 dimBlock(8, 8);
    dim3 dimGrid(BLOCKS(nOutWidth, 8), BLOCKS(nOutHeight, 8), nImages);
    KernelResizeYCbCr<<<dimGrid, dimBlock>>>(pfOut, pbIn, nWidth, nHeight, nOutWidth, nOutHeight);
    return cudaGetLastError();
}
