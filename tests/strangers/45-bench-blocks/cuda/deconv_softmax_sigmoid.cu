#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ConvTranspose2d(k=4, s=2, p=1, output_padding=1) -> softmax over channels -> + bias -> * scale -> sigmoid

constexpr int KSZ = 4;
constexpr int STRIDE = 2;
constexpr int PADDING = 1;

__global__ void deconv_kernel(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ cb,
                              float* __restrict__ y, int N, int Ci, int Co, int H, int W, int OH, int OW) {
    size_t idx = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t total = (size_t)N * Co * OH * OW;
    if (idx >= total) return;
    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int co = (idx / ((size_t)OW * OH)) % Co;
    int n = idx / ((size_t)OW * OH * Co);

    float acc = __half2float(cb[co]);
    for (int ci = 0; ci < Ci; ci++) {
        for (int kh = 0; kh < KSZ; kh++) {
            int h = oh + PADDING - kh;
            if (h < 0 || h % STRIDE) continue;
            h /= STRIDE;
            if (h >= H) continue;
            for (int kw = 0; kw < KSZ; kw++) {
                int v = ow + PADDING - kw;
                if (v < 0 || v % STRIDE) continue;
                v /= STRIDE;
                if (v >= W) continue;
                acc += __half2float(x[(((size_t)n * Ci + ci) * H + h) * W + v]) *
                       __half2float(w[((ci * Co + co) * KSZ + kh) * KSZ + kw]);
            }
        }
    }
    y[idx] = acc;
}

__global__ void softmax_bias_scale_sigmoid(const float* __restrict__ y, const __half* __restrict__ bias, __half* __restrict__ out,
                                           int N, int Co, int pixels, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * pixels) return;
    int n = i / pixels, p = i % pixels;
    const float* src = y + (size_t)n * Co * pixels + p;
    __half* dst = out + (size_t)n * Co * pixels + p;

    float mx = -INFINITY;
    for (int c = 0; c < Co; c++) mx = fmaxf(mx, src[(size_t)c * pixels]);
    float sum = 0.f;
    for (int c = 0; c < Co; c++) sum += expf(src[(size_t)c * pixels] - mx);
    for (int c = 0; c < Co; c++) {
        float p_c = expf(src[(size_t)c * pixels] - mx) / sum;
        float z = (p_c + __half2float(bias[c])) * scale;
        dst[(size_t)c * pixels] = __float2half(1.f / (1.f + expf(-z)));
    }
}

void deconv_softmax_bias_scale_sigmoid(const __half* x, const __half* w, const __half* conv_bias, const __half* bias, float* y,
                                       __half* out, int N, int Ci, int Co, int H, int W, float scale, cudaStream_t stream = 0) {
    int OH = (H - 1) * STRIDE - 2 * PADDING + KSZ + 1;
    int OW = (W - 1) * STRIDE - 2 * PADDING + KSZ + 1;
    size_t total = (size_t)N * Co * OH * OW;
    deconv_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(x, w, conv_bias, y, N, Ci, Co, H, W, OH, OW);
    int columns = N * OH * OW;
    softmax_bias_scale_sigmoid<<<(columns + 127) / 128, 128, 0, stream>>>(y, bias, out, N, Co, OH * OW, scale);
}
