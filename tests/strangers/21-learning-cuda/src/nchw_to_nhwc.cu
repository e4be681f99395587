// NCHW -> NHWC with a scale for each channel, through a shared memory tile
#include "helpers.cuh"

const int TILE = 32;

__global__ void nchwToNhwc(const half* x, const half* s, half* y, int C, int P) {
    __shared__ half t[TILE][TILE];
    int n = blockIdx.z;
    int p = blockIdx.x * TILE + threadIdx.x;  // pixel
    int c = blockIdx.y * TILE + threadIdx.y;  // channel
    if (p < P && c < C) t[threadIdx.y][threadIdx.x] = x[((size_t)n * C + c) * P + p];
    __syncthreads();
    p = blockIdx.x * TILE + threadIdx.y;
    c = blockIdx.y * TILE + threadIdx.x;
    if (p < P && c < C) y[((size_t)n * P + p) * C + c] = __hmul(t[threadIdx.x][threadIdx.y], s[c]);
}

void toChannelsLast(const half* x, const half* s, half* y, int N, int C, int H, int W) {
    int P = H * W;
    dim3 g((P + TILE - 1) / TILE, (C + TILE - 1) / TILE, N);
    nchwToNhwc<<<g, dim3(TILE, TILE)>>>(x, s, y, C, P);
    checkLaunch();
}
