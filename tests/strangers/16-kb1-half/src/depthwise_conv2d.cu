// depthwise conv2d, asymmetric kernel, stride 1, same padding
#include "util.cuh"

__global__ void depthwise_conv2d_kernel(const half* x, const half* w, half* y, int N, int C, int H, int W, int KH, int KW) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = N * C * H * W;
    if (idx < total) {
        int ow = idx % W;
        int oh = (idx / W) % H;
        int c = (idx / (W * H)) % C;
        int n = idx / (W * H * C);
        float acc = 0.0f;
        for (int i = 0; i < KH; i++)
            for (int j = 0; j < KW; j++) {
                int ih = oh + i - KH / 2;
                int iw = ow + j - KW / 2;
                if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
                acc += __half2float(x[((n * C + c) * H + ih) * W + iw]) * __half2float(w[(c * KH + i) * KW + j]);
            }
        y[idx] = __float2half(acc);
    }
}

void depthwise_conv2d_forward(const half* x, const half* w, half* y, int N, int C, int H, int W, int KH, int KW) {
    int total = N * C * H * W;
    depthwise_conv2d_kernel<<<CEIL_DIV(total, 128), 128>>>(x, w, y, N, C, H, W, KH, KW);
}
