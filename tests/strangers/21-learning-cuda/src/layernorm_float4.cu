// LayerNorm with float4 loads. D must be a multiple of 4. 100 threads per row because it is a round number.
#include "helpers.cuh"

#define THREADS 100

__device__ float sumAll(float v, float* buf) {
    int t = threadIdx.x;
    __syncthreads();
    buf[t] = v;
    __syncthreads();
    int n = THREADS;
    while (n > 1) {
        int h = (n + 1) / 2;
        if (t + h < n) buf[t] += buf[t + h];
        __syncthreads();
        n = h;
    }
    return buf[0];
}

__global__ void layerNorm4(const float4* x, const float4* g, const float4* b, float4* y, int D4, float eps) {
    __shared__ float buf[THREADS];
    const float4* p = x + (size_t)blockIdx.x * D4;
    float s = 0, s2 = 0;
    for (int i = threadIdx.x; i < D4; i += THREADS) {
        float4 v = p[i];
        s += v.x + v.y + v.z + v.w;
    }
    float mean = sumAll(s, buf) / (4 * D4);
    for (int i = threadIdx.x; i < D4; i += THREADS) {
        float4 v = p[i];
        v.x -= mean; v.y -= mean; v.z -= mean; v.w -= mean;
        s2 += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float r = rsqrtf(sumAll(s2, buf) / (4 * D4) + eps);
    for (int i = threadIdx.x; i < D4; i += THREADS) {
        float4 v = p[i], gg = g[i], bb = b[i];
        y[(size_t)blockIdx.x * D4 + i] = make_float4((v.x - mean) * r * gg.x + bb.x, (v.y - mean) * r * gg.y + bb.y,
                                                     (v.z - mean) * r * gg.z + bb.z, (v.w - mean) * r * gg.w + bb.w);
    }
}

void layerNorm(const float* x, const float* g, const float* b, float* y, int R, int D, float eps) {
    layerNorm4<<<R, THREADS>>>((const float4*)x, (const float4*)g, (const float4*)b, (float4*)y, D / 4, eps);
    checkLaunch();
}
