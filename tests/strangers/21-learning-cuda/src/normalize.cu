// L2-normalize a vector: y = x / |x|. First one block computes the norm, then everybody divides.
#include "helpers.cuh"

__global__ void l2norm(const half* x, float* norm, int n) {
    extern __shared__ float sdata[];
    int t = threadIdx.x;
    float s = 0;
    for (int i = t; i < n; i += blockDim.x) {
        float v = __half2float(x[i]);
        s += v * v;
    }
    sdata[t] = s;
    __syncthreads();
    // interleaved addressing, as in the slides
    for (int d = 1; d < blockDim.x; d *= 2) {
        int i = 2 * d * t;
        if (i < blockDim.x) sdata[i] += sdata[i + d];
        __syncthreads();
    }
    if (t == 0) norm[0] = sqrtf(sdata[0]);
}

__global__ void divide(const half* x, const float* norm, half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half(__half2float(x[i]) / fmaxf(norm[0], 1e-12f));
}

void normalize(const half* x, half* y, float* norm, int n) {
    l2norm<<<1, 512, 512 * sizeof(float)>>>(x, norm, n);
    checkLaunch();
    divide<<<(n + 99) / 100, 100>>>(x, norm, y, n);
    checkLaunch();
}
