// Blocks of convolutional networks
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math.h>

#define BLOCKS(n, t) (unsigned)(((long long)(n) + (t) - 1) / (t))
#define GLOBAL_INDEX ((long long)blockIdx.x * blockDim.x + threadIdx.x)

__device__ __forceinline__ float ld(const __half* p) { return __half2float(*p); }
__device__ __forceinline__ float relu6(float v) { return fminf(fmaxf(v, 0.f), 6.f); }

// ================================================================ squeeze and excite
__global__ void se_pool(const __half* x, float* pooled, int planes, int HW) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes) return;
    float s = 0.f;
    for (int p = 0; p < HW; ++p) s += ld(x + (size_t)i * HW + p);
    pooled[i] = s / HW;
}

__global__ void se_fc(const float* pooled, const __half* w1, const __half* b1, const __half* w2, const __half* b2, float* gate,
                      int C, int R) {
    extern __shared__ float mid[];
    const float* p = pooled + (size_t)blockIdx.x * C;
    for (int r = threadIdx.x; r < R; r += blockDim.x) {
        float s = ld(b1 + r);
        for (int c = 0; c < C; ++c) s += p[c] * ld(w1 + r * C + c);
        mid[r] = fmaxf(s, 0.f);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float s = ld(b2 + c);
        for (int r = 0; r < R; ++r) s += mid[r] * ld(w2 + c * R + r);
        gate[(size_t)blockIdx.x * C + c] = 1.f / (1.f + expf(-s));
    }
}

__global__ void se_scale(const __half* x, const float* gate, __half* y, int HW, long long total) {
    for (long long i = GLOBAL_INDEX; i < total; i += (long long)gridDim.x * blockDim.x)
        y[i] = __float2half(ld(x + i) * gate[i / HW]);
}

extern "C" void squeeze_excite(const __half* x, const __half* w1, const __half* b1, const __half* w2, const __half* b2, __half* y,
                               float* pooled, float* gate, int N, int C, int R, int H, int W, cudaStream_t stream) {
    long long total = (long long)N * C * H * W;
    se_pool<<<BLOCKS(N * C, 128), 128, 0, stream>>>(x, pooled, N * C, H * W);
    se_fc<<<N, 64, R * sizeof(float), stream>>>(pooled, w1, b1, w2, b2, gate, C, R);
    unsigned blocks = BLOCKS(total, 256);
    if (blocks > 4096) blocks = 4096;
    se_scale<<<blocks, 256, 0, stream>>>(x, gate, y, H * W, total);
}

// ================================================================ inverted residual in NHWC, depthwise with stride 2, no shortcut
template <bool ACT>
__global__ void pw_nhwc(const __half* x, const __half* w, const __half* scale, const __half* shift, __half* y, long long pixels,
                        int CI, int CO) {
    long long i = GLOBAL_INDEX;
    if (i >= pixels * CO) return;
    long long p = i / CO;
    int o = i % CO;
    float s = 0.f;
    for (int c = 0; c < CI; ++c) s += ld(x + p * CI + c) * ld(w + (long long)c * CO + o);
    s = s * ld(scale + o) + ld(shift + o);
    y[i] = __float2half(ACT ? relu6(s) : s);
}

__global__ void dw_nhwc_s2(const __half* x, const __half* w, const __half* scale, const __half* shift, __half* y, int N, int H,
                           int W, int C) {
    int OH = (H + 1) / 2, OW = (W + 1) / 2;
    long long i = GLOBAL_INDEX;
    if (i >= (long long)N * OH * OW * C) return;
    int c = i % C;
    int ow = i / C % OW;
    int oh = i / C / OW % OH;
    int n = i / C / OW / OH;
    float s = 0.f;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            int h = 2 * oh + a - 1, v = 2 * ow + b - 1;
            if (h >= 0 && h < H && v >= 0 && v < W) s += ld(x + (((long long)n * H + h) * W + v) * C + c) * ld(w + (a * 3 + b) * C + c);
        }
    y[i] = __float2half(relu6(s * ld(scale + c) + ld(shift + c)));
}

extern "C" void inverted_residual_s2(const __half* x, const __half* w1, const __half* s1, const __half* t1, const __half* w2,
                                     const __half* s2, const __half* t2, const __half* w3, const __half* s3, const __half* t3,
                                     __half* y, __half* a, __half* b, int N, int H, int W, int C, int E, int O, cudaStream_t st) {
    int OH = (H + 1) / 2, OW = (W + 1) / 2;
    long long pi = (long long)N * H * W, po = (long long)N * OH * OW;
    pw_nhwc<true><<<BLOCKS(pi * E, 256), 256, 0, st>>>(x, w1, s1, t1, a, pi, C, E);
    dw_nhwc_s2<<<BLOCKS(po * E, 256), 256, 0, st>>>(a, w2, s2, t2, b, N, H, W, E);
    pw_nhwc<false><<<BLOCKS(po * O, 256), 256, 0, st>>>(b, w3, s3, t3, y, po, E, O);
}

// ================================================================ inception module: 1x1 | 1x1 -> 3x3 | maxpool 3x3 -> 1x1, concatenated
__global__ void conv_into(const __half* x, const __half* w, const __half* bias, __half* y, int N, int IC, int H, int W, int OC, int K,
                          int YC, int y_off) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int oc = blockIdx.y, n = blockIdx.z;
    if (p >= H * W) return;
    int h = p / W, v = p % W, r = K / 2;
    float s = ld(bias + oc);
    for (int c = 0; c < IC; ++c)
        for (int a = 0; a < K; ++a) {
            int hh = h + a - r;
            if (hh < 0 || hh >= H) continue;
            for (int b = 0; b < K; ++b) {
                int vv = v + b - r;
                if (vv < 0 || vv >= W) continue;
                s += ld(x + (((size_t)n * IC + c) * H + hh) * W + vv) * ld(w + (((size_t)oc * IC + c) * K + a) * K + b);
            }
        }
    y[((size_t)n * YC + y_off + oc) * H * W + p] = __float2half(fmaxf(s, 0.f));
}

__global__ void maxpool3_same(const __half* x, __half* y, int H, int W, long long total) {
    long long i = GLOBAL_INDEX;
    if (i >= total) return;
    int v = i % W, h = i / W % H;
    const __half* plane = x + i / (H * W) * (H * W);
    float m = -INFINITY;
    for (int a = max(h - 1, 0); a <= min(h + 1, H - 1); ++a)
        for (int b = max(v - 1, 0); b <= min(v + 1, W - 1); ++b) m = fmaxf(m, ld(plane + a * W + b));
    y[i] = __float2half(m);
}

extern "C" void inception_module(const __half* x, const __half* w1, const __half* b1, const __half* w3r, const __half* b3r,
                                 const __half* w3, const __half* b3, const __half* wp, const __half* bp, __half* y, __half* red,
                                 __half* pool, int N, int C, int H, int W, int C1, int C3R, int C3, int CP, cudaStream_t s) {
    int YC = C1 + C3 + CP;
    unsigned px = BLOCKS(H * W, 128);
    conv_into<<<dim3(px, C1, N), 128, 0, s>>>(x, w1, b1, y, N, C, H, W, C1, 1, YC, 0);
    conv_into<<<dim3(px, C3R, N), 128, 0, s>>>(x, w3r, b3r, red, N, C, H, W, C3R, 1, C3R, 0);
    conv_into<<<dim3(px, C3, N), 128, 0, s>>>(red, w3, b3, y, N, C3R, H, W, C3, 3, YC, C1);
    long long total = (long long)N * C * H * W;
    maxpool3_same<<<BLOCKS(total, 256), 256, 0, s>>>(x, pool, H, W, total);
    conv_into<<<dim3(px, CP, N), 128, 0, s>>>(pool, wp, bp, y, N, C, H, W, CP, 1, YC, C1 + C3);
}

// ================================================================ up block of a U-Net: nearest upsampling, concatenated skip, conv 3x3, SiLU
__global__ void unet_up_kernel(const __half* __restrict__ x, const __half* __restrict__ skip, const __half* __restrict__ w,
                               const __half* __restrict__ b, __half* __restrict__ y, int C1, int C2, int H, int W, int OC) {
    int H2 = 2 * H, W2 = 2 * W;
    int ow = blockIdx.x * 32 + threadIdx.x, oh = blockIdx.y * 8 + threadIdx.y;
    int oc = blockIdx.z % OC, n = blockIdx.z / OC;
    if (ow >= W2 || oh >= H2) return;
    float acc = ld(b + oc);
    const __half* wo = w + (size_t)oc * (C1 + C2) * 9;
    for (int c = 0; c < C1 + C2; ++c) {
        for (int t = 0; t < 9; ++t) {
            int h = oh + t / 3 - 1, v = ow + t % 3 - 1;
            if (h < 0 || h >= H2 || v < 0 || v >= W2) continue;
            float in = c < C1 ? ld(x + (((size_t)n * C1 + c) * H + h / 2) * W + v / 2)
                              : ld(skip + (((size_t)n * C2 + c - C1) * H2 + h) * W2 + v);
            acc += in * ld(wo + c * 9 + t);
        }
    }
    y[(((size_t)n * OC + oc) * H2 + oh) * W2 + ow] = __float2half(acc / (1.f + expf(-acc)));
}

extern "C" void unet_up(const __half* x, const __half* skip, const __half* w, const __half* b, __half* y, int N, int C1, int C2,
                        int H, int W, int OC) {
    dim3 grid((2 * W + 31) / 32, (2 * H + 7) / 8, N * OC);
    unet_up_kernel<<<grid, dim3(32, 8)>>>(x, skip, w, b, y, C1, C2, H, W, OC);
}

// ================================================================ ESPCN head: conv 3x3 to C * r * r channels, pixel shuffle, clamp to [0, 1]
__global__ void espcn_conv(const __half* x, const __half* w, const __half* b, __half* t, int IC, int OC, int H, int W) {
    __shared__ float patch[10][34];
    int tx = threadIdx.x, ty = threadIdx.y;
    int w0 = blockIdx.x * 32, h0 = blockIdx.y * 8;
    int oc = blockIdx.z % OC, n = blockIdx.z / OC;
    float acc = ld(b + oc);
    for (int c = 0; c < IC; ++c) {
        for (int i = ty * 32 + tx; i < 340; i += 256) {
            int h = h0 + i / 34 - 1, v = w0 + i % 34 - 1;
            patch[i / 34][i % 34] = (h >= 0 && h < H && v >= 0 && v < W) ? ld(x + (((size_t)n * IC + c) * H + h) * W + v) : 0.f;
        }
        __syncthreads();
        const __half* k = w + ((size_t)oc * IC + c) * 9;
        for (int a = 0; a < 3; ++a)
            for (int d = 0; d < 3; ++d) acc += patch[ty + a][tx + d] * ld(k + a * 3 + d);
        __syncthreads();
    }
    int h = h0 + ty, v = w0 + tx;
    if (h < H && v < W) t[(((size_t)n * OC + oc) * H + h) * W + v] = __float2half(acc);
}

__global__ void shuffle_clamp(const __half* t, __half* y, int N, int C, int H, int W, int r) {
    long long i = GLOBAL_INDEX;
    int OH = H * r, OW = W * r;
    if (i >= (long long)N * C * OH * OW) return;
    int ow = i % OW, oh = i / OW % OH;
    long long nc = i / ((long long)OW * OH);
    long long ch = nc * r * r + (oh % r) * r + ow % r;
    float v = ld(t + (ch * H + oh / r) * W + ow / r);
    y[i] = __float2half(fminf(fmaxf(v, 0.f), 1.f));
}

extern "C" void espcn_head(const __half* x, const __half* w, const __half* b, __half* y, __half* tmp, int N, int IC, int C, int r,
                           int H, int W, cudaStream_t stream) {
    int OC = C * r * r;
    espcn_conv<<<dim3((W + 31) / 32, (H + 7) / 8, N * OC), dim3(32, 8), 0, stream>>>(x, w, b, tmp, IC, OC, H, W);
    shuffle_clamp<<<BLOCKS((long long)N * C * H * W * r * r, 256), 256, 0, stream>>>(tmp, y, N, C, H, W, r);
}
