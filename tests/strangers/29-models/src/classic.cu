#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ---------------------------------------------------------------- LeNet-5, f32, images of 1 x 32 x 32
__global__ void lenet_conv_pool(const float* x, const float* w, const float* b, float* y, int N, int IC, int OC, int S) {
    // 5x5 convolution, ReLU, 2x2 max pooling; S is the side of the input
    int P = (S - 4) / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * P * P) return;
    int px = i % P, py = i / P % P, oc = i / (P * P) % OC, n = i / (P * P * OC);
    float best = 0.f;  // of the ReLU
    for (int q = 0; q < 4; q++) {
        int ox = 2 * px + (q & 1), oy = 2 * py + (q >> 1);
        float s = b[oc];
        for (int c = 0; c < IC; c++)
            for (int ky = 0; ky < 5; ky++)
                for (int kx = 0; kx < 5; kx++)
                    s += x[((n * IC + c) * S + oy + ky) * S + ox + kx] * w[((oc * IC + c) * 5 + ky) * 5 + kx];
        best = fmaxf(best, s);
    }
    y[i] = best;
}

__global__ void lenet_fc(const float* x, const float* w, const float* b, float* y, int N, int I, int O, bool relu) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * O) return;
    int n = i / O, o = i % O;
    float s = b[o];
    for (int k = 0; k < I; k++) s += x[n * I + k] * w[o * I + k];
    y[i] = relu ? fmaxf(s, 0.f) : s;
}

extern "C" void lenet_forward(const float* img, const float* c1w, const float* c1b, const float* c2w, const float* c2b,
                              const float* f1w, const float* f1b, const float* f2w, const float* f2b, const float* f3w,
                              const float* f3b, float* logits, float* p1, float* p2, float* a1, float* a2, int N, int classes) {
    const int T = 128;
    lenet_conv_pool<<<(N * 6 * 14 * 14 + T - 1) / T, T>>>(img, c1w, c1b, p1, N, 1, 6, 32);
    lenet_conv_pool<<<(N * 16 * 5 * 5 + T - 1) / T, T>>>(p1, c2w, c2b, p2, N, 6, 16, 14);
    lenet_fc<<<(N * 120 + T - 1) / T, T>>>(p2, f1w, f1b, a1, N, 400, 120, true);
    lenet_fc<<<(N * 84 + T - 1) / T, T>>>(a1, f2w, f2b, a2, N, 120, 84, true);
    lenet_fc<<<(N * classes + T - 1) / T, T>>>(a2, f3w, f3b, logits, N, 84, classes, false);
}

// ---------------------------------------------------------------- ConvNeXt block, NCHW outside and token-major inside
__global__ void dw7_to_tokens(const half* x, const half* w, const half* b, half* t, int C, int H, int W) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int h = blockIdx.y;
    int n = blockIdx.z / C, c = blockIdx.z % C;
    if (v >= W) return;
    const half* plane = x + (size_t)blockIdx.z * H * W;
    float s = __half2float(b[c]);
    for (int i = -3; i <= 3; ++i)
        for (int j = -3; j <= 3; ++j)
            if ((unsigned)(h + i) < (unsigned)H && (unsigned)(v + j) < (unsigned)W)
                s += __half2float(plane[(h + i) * W + v + j]) * __half2float(w[c * 49 + (i + 3) * 7 + j + 3]);
    t[(((size_t)n * H + h) * W + v) * C + c] = __float2half(s);
}

__global__ void ln_token_warp(half* t, const half* g, const half* b, int tokens, int C, float eps) {
    int tok = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (tok >= tokens) return;
    half* p = t + (size_t)tok * C;
    float s = 0.f;
    for (int c = lane; c < C; c += 32) s += __half2float(p[c]);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
    float mean = s / C, q = 0.f;
    for (int c = lane; c < C; c += 32) {
        float d = __half2float(p[c]) - mean;
        q += d * d;
    }
    for (int o = 16; o; o >>= 1) q += __shfl_xor_sync(0xffffffff, q, o);
    float r = rsqrtf(q / C + eps);
    for (int c = lane; c < C; c += 32)
        p[c] = __float2half((__half2float(p[c]) - mean) * r * __half2float(g[c]) + __half2float(b[c]));
}

__global__ void cnx_expand(const half* t, const half* w, const half* b, half* e, int tokens, int C) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int tok = blockIdx.y * blockDim.y + threadIdx.y;
    if (o >= 4 * C || tok >= tokens) return;
    float s = __half2float(b[o]);
    for (int c = 0; c < C; ++c) s += __half2float(t[(size_t)tok * C + c]) * __half2float(w[(size_t)o * C + c]);
    e[(size_t)tok * 4 * C + o] = __float2half(0.5f * s * (1.f + erff(s * 0.70710678f)));
}

__global__ void cnx_project(const half* e, const half* w, const half* b, const half* layer_scale, const half* x, half* y, int tokens,
                            int C, int HW) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int tok = blockIdx.y * blockDim.y + threadIdx.y;
    if (o >= C || tok >= tokens) return;
    float s = __half2float(b[o]);
    for (int c = 0; c < 4 * C; ++c) s += __half2float(e[(size_t)tok * 4 * C + c]) * __half2float(w[(size_t)o * 4 * C + c]);
    size_t at = ((size_t)(tok / HW) * C + o) * HW + tok % HW;
    y[at] = __float2half(__half2float(x[at]) + __half2float(layer_scale[o]) * s);
}

void convnext_block(const half* x, const half* dw, const half* db, const half* g, const half* be, const half* w1, const half* b1,
                    const half* w2, const half* b2, const half* layer_scale, half* y, half* tokens, half* hidden, int N, int C, int H,
                    int W, float eps, cudaStream_t stream) {
    int n = N * H * W;
    dw7_to_tokens<<<dim3((W + 31) / 32, H, N * C), 32, 0, stream>>>(x, dw, db, tokens, C, H, W);
    ln_token_warp<<<(n + 3) / 4, 128, 0, stream>>>(tokens, g, be, n, C, eps);
    dim3 t(16, 16);
    cnx_expand<<<dim3((4 * C + 15) / 16, (n + 15) / 16), t, 0, stream>>>(tokens, w1, b1, hidden, n, C);
    cnx_project<<<dim3((C + 15) / 16, (n + 15) / 16), t, 0, stream>>>(hidden, w2, b2, layer_scale, x, y, n, C, H * W);
}
