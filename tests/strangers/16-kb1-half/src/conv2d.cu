// conv2d, NCHW, square kernel, stride and zero padding
#include "util.cuh"

__global__ void conv2d_kernel(const half* x, const half* w, half* y, int N, int Cin, int H, int W, int Cout, int Ho,
                              int Wo, int K, int stride, int pad) {
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int co = blockIdx.z % Cout;
    int n = blockIdx.z / Cout;
    if (ow >= Wo || oh >= Ho) return;

    float sum = 0.0f;
    for (int ci = 0; ci < Cin; ci++) {
        for (int kh = 0; kh < K; kh++) {
            for (int kw = 0; kw < K; kw++) {
                int ih = oh * stride - pad + kh;
                int iw = ow * stride - pad + kw;
                if (ih >= 0 && ih < H && iw >= 0 && iw < W) {
                    float xv = __half2float(x[((n * Cin + ci) * H + ih) * W + iw]);
                    float wv = __half2float(w[((co * Cin + ci) * K + kh) * K + kw]);
                    sum += xv * wv;
                }
            }
        }
    }
    y[((n * Cout + co) * Ho + oh) * Wo + ow] = __float2half(sum);
}

void conv2d_forward(const half* x, const half* w, half* y, int N, int Cin, int H, int W, int Cout, int Ho, int Wo,
                    int K, int stride, int pad) {
    dim3 block(16, 16);
    dim3 grid(CEIL_DIV(Wo, 16), CEIL_DIV(Ho, 16), N * Cout);
    conv2d_kernel<<<grid, block>>>(x, w, y, N, Cin, H, W, Cout, Ho, Wo, K, stride, pad);
}
