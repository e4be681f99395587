// ShuffleNet unit (in_channels == out_channels, so the shortcut is the identity).
//
//   1x1 group conv -> BN -> ReLU -> channel shuffle -> 3x3 depthwise -> BN
//   -> 1x1 group conv -> BN -> ReLU -> + x
//
// BatchNorm is in eval mode and was folded by the exporter into one scale and one shift per
// channel. Activations and weights half, folded BN float.
#include "common.cuh"

// Pointwise group conv with folded BN and ReLU. Residual may be null.
__global__ void gconv1x1_bn_relu(const __half* in, const __half* w, const float* scale,
                                 const float* shift, const __half* residual, __half* out,
                                 int Cin, int Cout, int groups, int HW) {
    int pix = blockIdx.x * blockDim.x + threadIdx.x;
    int co = blockIdx.y;
    int n = blockIdx.z;
    if (pix >= HW) return;

    int cin_g = Cin / groups;
    int g = co / (Cout / groups);
    float acc = 0.f;
    for (int c = 0; c < cin_g; ++c) {
        acc += to_f(in[((size_t)n * Cin + g * cin_g + c) * HW + pix]) * to_f(w[co * cin_g + c]);
    }
    acc = acc * scale[co] + shift[co];
    acc = acc > 0.f ? acc : 0.f;
    size_t o = ((size_t)n * Cout + co) * HW + pix;
    if (residual) acc += to_f(residual[o]);
    out[o] = __float2half(acc);
}

// view(n, g, c/g, hw) -> transpose(1, 2)
__global__ void channel_shuffle(const __half* in, __half* out, int C, int groups, int HW) {
    int pix = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;   // channel of the output
    int n = blockIdx.z;
    if (pix >= HW) return;
    int per = C / groups;
    int src = (c % groups) * per + c / groups;
    out[((size_t)n * C + c) * HW + pix] = in[((size_t)n * C + src) * HW + pix];
}

__global__ void depthwise3x3_bn(const __half* in, const __half* w, const float* scale,
                                const float* shift, __half* out, int C, int H, int W) {
    int pix = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    int n = blockIdx.z;
    if (pix >= H * W) return;
    int y = pix / W, x = pix % W;
    const __half* p = in + ((size_t)n * C + c) * H * W;
    float acc = 0.f;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            int yy = y + dy, xx = x + dx;
            if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                acc += to_f(p[yy * W + xx]) * to_f(w[c * 9 + (dy + 1) * 3 + dx + 1]);
        }
    }
    out[((size_t)n * C + c) * H * W + pix] = __float2half(acc * scale[c] + shift[c]);
}

void shuffle_unit_forward(const __half* x, const __half* w1, const float* scale1, const float* shift1,
                          const __half* w2, const float* scale2, const float* shift2,
                          const __half* w3, const float* scale3, const float* shift3,
                          __half* t1, __half* t2, __half* out,
                          int N, int C, int mid, int groups, int H, int W) {
    int HW = H * W;
    dim3 gmid(CEIL_DIV(HW, 256), mid, N);
    dim3 gout(CEIL_DIV(HW, 256), C, N);
    gconv1x1_bn_relu<<<gmid, 256>>>(x, w1, scale1, shift1, nullptr, t1, C, mid, groups, HW);
    CHECK_LAUNCH();
    channel_shuffle<<<gmid, 256>>>(t1, t2, mid, groups, HW);
    CHECK_LAUNCH();
    depthwise3x3_bn<<<gmid, 256>>>(t2, w2, scale2, shift2, t1, mid, H, W);
    CHECK_LAUNCH();
    gconv1x1_bn_relu<<<gout, 256>>>(t1, w3, scale3, shift3, x, out, mid, C, groups, HW);
    CHECK_LAUNCH();
}
