// Histograms of the three channels of interleaved RGB pixels.
#include "helpers.cuh"

__global__ void histRgb(const uchar3* p, unsigned int* h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar3 v = p[i];
    atomicAdd(&h[v.x], 1);
    atomicAdd(&h[256 + v.y], 1);
    atomicAdd(&h[512 + v.z], 1);
}

void histogramRgb(const uchar3* p, unsigned int* h, int n) {
    cudaMemset(h, 0, 3 * 256 * sizeof(unsigned int));
    histRgb<<<(n + 255) / 256, 256>>>(p, h, n);
    checkLaunch();
}
