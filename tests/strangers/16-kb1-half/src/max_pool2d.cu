#include "util.cuh"

__global__ void max_pool2d_kernel(const half* x, half* y, int planes, int H, int W, int Ho, int Wo, int k, int stride,
                                  int pad, int dilation) {
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y;
    int p = blockIdx.z;
    if (ow >= Wo) return;
    half best = __float2half(-65504.0f);
    for (int i = 0; i < k; i++) {
        int ih = oh * stride - pad + i * dilation;
        if (ih < 0 || ih >= H) continue;
        for (int j = 0; j < k; j++) {
            int iw = ow * stride - pad + j * dilation;
            if (iw < 0 || iw >= W) continue;
            half v = x[((size_t)p * H + ih) * W + iw];
            if (__hgt(v, best)) best = v;
        }
    }
    y[((size_t)p * Ho + oh) * Wo + ow] = best;
}

// planes = batch * channels
void max_pool2d_forward(const half* x, half* y, int planes, int H, int W, int Ho, int Wo, int k, int stride, int pad,
                        int dilation) {
    dim3 grid(CEIL_DIV(Wo, 64), Ho, planes);
    max_pool2d_kernel<<<grid, 64>>>(x, y, planes, H, W, Ho, Wo, k, stride, pad, dilation);
}
