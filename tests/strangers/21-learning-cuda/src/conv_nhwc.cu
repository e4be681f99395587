// 3x3 convolution, NHWC, padding 1. Each block computes an 8x8 patch of one output channel, so that the input patch (10x10)
// can be shared.
#include "helpers.cuh"

#define B 8

__global__ void convNhwc(const half* x, const half* w, half* y, int H, int W, int C, int K) {
    __shared__ half s[B + 2][B + 2];
    int k = blockIdx.z % K;
    int n = blockIdx.z / K;
    int w0 = blockIdx.x * B, h0 = blockIdx.y * B;
    int oy = h0 + threadIdx.y, ox = w0 + threadIdx.x;
    float a = 0.0f;
    for (int c = 0; c < C; c++) {
        // load the patch with its border
        for (int i = threadIdx.y * B + threadIdx.x; i < (B + 2) * (B + 2); i += B * B) {
            int sy = i / (B + 2), sx = i % (B + 2);
            int iy = h0 + sy - 1, ix = w0 + sx - 1;
            half v = __float2half(0.0f);
            if (iy >= 0 && iy < H && ix >= 0 && ix < W) v = x[((size_t)(n * H + iy) * W + ix) * C + c];
            s[sy][sx] = v;
        }
        __syncthreads();
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++)
                a += __half2float(s[threadIdx.y + r][threadIdx.x + q]) * __half2float(w[((r * 3 + q) * C + c) * K + k]);
        __syncthreads();
    }
    if (oy < H && ox < W) y[((size_t)(n * H + oy) * W + ox) * K + k] = __float2half(a);
}

void convChannelsLast(const half* x, const half* w, half* y, int N, int H, int W, int C, int K) {
    dim3 g((W + B - 1) / B, (H + B - 1) / B, N * K);
    convNhwc<<<g, dim3(B, B)>>>(x, w, y, H, W, C, K);
    checkLaunch();
}
