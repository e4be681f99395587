#include "common.cuh"

// Batch norms are in inference mode. In most blocks they come folded: v * s[c] + t[c].
struct Affine {
    const f16* s;
    const f16* t;
    __device__ float operator()(float v, int c) const { return v * LD(s[c]) + LD(t[c]); }
};

enum class Act { none, relu, silu };

template <Act A>
__device__ __forceinline__ float activate(float v)
{
    if constexpr (A == Act::relu) return act::relu(v);
    if constexpr (A == Act::silu) return act::silu(v);
    return v;
}

// ===== MBConv: 1x1 expand, 5x5 depthwise, 1x1 project, residual =================================
// out[n, oc, p] = act(bn(sum_c w[oc, c] * in[n, c, p])) (+ skip)
template <Act A, bool SKIP>
__global__ void k_pointwise(const f16* in, const f16* w, Affine bn, const f16* skip, f16* out, int N, int C, int OC,
                            int HW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * HW) return;
    int p = i % HW;
    int oc = (i / HW) % OC;
    int n = i / (HW * OC);
    float acc = 0.f;
    for (int c = 0; c < C; c++) acc += LD(in[(n * C + c) * HW + p]) * LD(w[oc * C + c]);
    acc = activate<A>(bn(acc, oc));
    if (SKIP) acc += LD(skip[i]);
    out[i] = __float2half(acc);
}

template <int K, Act A>
__global__ void k_depthwise(const f16* in, const f16* w, Affine bn, f16* out, int C, int H, int W)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int nc = blockIdx.z, c = nc % C;
    if (x >= W || y >= H) return;
    const f16* plane = in + (int64_t)nc * H * W;
    float acc = 0.f;
    for (int r = -K / 2; r <= K / 2; r++)
        for (int q = -K / 2; q <= K / 2; q++) {
            float v = (y + r >= 0 && y + r < H && x + q >= 0 && x + q < W) ? LD(plane[(y + r) * W + x + q]) : 0.f;
            acc += v * LD(w[(c * K + r + K / 2) * K + q + K / 2]);
        }
    out[((int64_t)nc * H + y) * W + x] = __float2half(activate<A>(bn(acc, c)));
}

void mbconv_k5(const f16* x, const f16* w_exp, const f16* s1, const f16* t1, const f16* w_dw, const f16* s2,
               const f16* t2, const f16* w_proj, const f16* s3, const f16* t3, f16* y, f16* e1, f16* e2, int N, int C,
               int E, int H, int W, cudaStream_t s)
{
    const int HW = H * W;
    k_pointwise<Act::silu, false><<<CEIL_DIV(N * E * HW, 256), 256, 0, s>>>(x, w_exp, Affine{s1, t1}, nullptr, e1, N, C, E, HW);
    k_depthwise<5, Act::silu><<<dim3(CEIL_DIV(W, 32), CEIL_DIV(H, 4), N * E), dim3(32, 4), 0, s>>>(e1, w_dw, Affine{s2, t2}, e2, E, H, W);
    k_pointwise<Act::none, true><<<CEIL_DIV(N * C * HW, 256), 256, 0, s>>>(e2, w_proj, Affine{s3, t3}, x, y, N, E, C, HW);
}

// ===== DenseNet layer: y = cat(x, conv3x3(relu(bn(x)))) =========================================
__global__ void k_dense_layer(const f16* x, const f16* gamma, const f16* beta, const f16* mean, const f16* var,
                              const f16* w, f16* y, int C, int growth, int H, int W, float eps, int64_t total)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int px = i % W;
    int py = i / W % H;
    int oc = i / (W * H) % (C + growth);
    int n = i / ((int64_t)W * H * (C + growth));
    if (oc < C) {
        y[i] = x[((int64_t)(n * C + oc) * H + py) * W + px];
        return;
    }
    oc -= C;
    float acc = 0.f;
    for (int c = 0; c < C; c++) {
        float sc = LD(gamma[c]) / sqrtf(LD(var[c]) + eps);
        float sh = LD(beta[c]) - LD(mean[c]) * sc;
        for (int r = 0; r < 3; r++) {
            int iy = py + r - 1;
            if (iy < 0 || iy >= H) continue;
            for (int q = 0; q < 3; q++) {
                int ix = px + q - 1;
                if (ix < 0 || ix >= W) continue;
                float v = LD(x[((int64_t)(n * C + c) * H + iy) * W + ix]) * sc + sh;
                if (v > 0.f) acc += v * LD(w[((oc * C + c) * 3 + r) * 3 + q]);
            }
        }
    }
    y[i] = __float2half(acc);
}

void densenet_layer(const f16* x, const f16* gamma, const f16* beta, const f16* mean, const f16* var, const f16* w,
                    f16* y, int N, int C, int growth, int H, int W, float eps, cudaStream_t s)
{
    int64_t total = (int64_t)N * (C + growth) * H * W;
    k_dense_layer<<<(unsigned)CEIL_DIV(total, 256), 256, 0, s>>>(x, gamma, beta, mean, var, w, y, C, growth, H, W, eps, total);
}

// ===== ResNet basic block with a strided 1x1 shortcut ===========================================
struct Conv2dArgs {
    int N, IC, OC, H, W, OH, OW, stride;
};

template <int K, bool RELU>
__global__ void k_conv_bn(const f16* __restrict__ in, const f16* __restrict__ w, Affine bn,
                          const f16* __restrict__ add, f16* __restrict__ out, Conv2dArgs a)
{
    constexpr int PAD = K / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.N * a.OC * a.OH * a.OW) return;
    int ox = i % a.OW, oy = (i / a.OW) % a.OH, oc = (i / (a.OW * a.OH)) % a.OC, n = i / (a.OW * a.OH * a.OC);
    float acc = 0.f;
    for (int ic = 0; ic < a.IC; ++ic)
        for (int r = 0; r < K; ++r)
            for (int q = 0; q < K; ++q) {
                int iy = oy * a.stride + r - PAD, ix = ox * a.stride + q - PAD;
                bool ok = iy >= 0 && iy < a.H && ix >= 0 && ix < a.W;
                acc += ok ? LD(in[((n * a.IC + ic) * a.H + iy) * a.W + ix]) * LD(w[((oc * a.IC + ic) * K + r) * K + q])
                          : 0.f;
            }
    acc = bn(acc, oc);
    if (add != nullptr) acc += LD(add[i]);
    out[i] = __float2half(RELU ? act::relu(acc) : acc);
}

void resnet_basic_block(const f16* x, const f16* w1, const f16* s1, const f16* t1, const f16* w2, const f16* s2,
                        const f16* t2, const f16* w3, const f16* s3, const f16* t3, f16* y, f16* mid, f16* shortcut,
                        int N, int IC, int OC, int H, int W, int stride, cudaStream_t s)
{
    const int OH = (H - 1) / stride + 1, OW = (W - 1) / stride + 1;
    const int total = N * OC * OH * OW, blocks = CEIL_DIV(total, 256);
    k_conv_bn<3, true><<<blocks, 256, 0, s>>>(x, w1, Affine{s1, t1}, nullptr, mid, Conv2dArgs{N, IC, OC, H, W, OH, OW, stride});
    k_conv_bn<1, false><<<blocks, 256, 0, s>>>(x, w3, Affine{s3, t3}, nullptr, shortcut, Conv2dArgs{N, IC, OC, H, W, OH, OW, stride});
    k_conv_bn<3, true><<<blocks, 256, 0, s>>>(mid, w2, Affine{s2, t2}, shortcut, y, Conv2dArgs{N, OC, OC, OH, OW, OH, OW, 1});
}

// ===== ShuffleNet unit: grouped 1x1 + relu, shuffle, depthwise 3x3, grouped 1x1, + x, relu ======
__global__ void k_group_pointwise(const f16* in, const f16* w, const f16* sc, const f16* sh, const f16* skip, f16* out,
                                  int C, int OC, int HW, int groups)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= HW) return;
    int oc = blockIdx.y, n = blockIdx.z;
    int icg = C / groups, g = oc / (OC / groups);
    float acc = 0.f;
    for (int c = 0; c < icg; ++c) acc += LD(in[((int64_t)n * C + g * icg + c) * HW + p]) * LD(w[oc * icg + c]);
    acc = acc * LD(sc[oc]) + LD(sh[oc]);
    int64_t o = ((int64_t)n * OC + oc) * HW + p;
    if (skip) acc += LD(skip[o]);
    out[o] = __float2half(act::relu(acc));
}

// reads channel c of the shuffled tensor: shuffled[j * groups + g] = in[g * (C / groups) + j]
__global__ void k_shuffle_depthwise(const f16* in, const f16* w, const f16* sc, const f16* sh, f16* out, int C, int H,
                                    int W, int groups)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= H * W) return;
    int c = blockIdx.y, n = blockIdx.z;
    int src = (c % groups) * (C / groups) + c / groups;
    const f16* plane = in + ((int64_t)n * C + src) * H * W;
    int y = p / W, x = p % W;
    f16 acc = __float2half(0.f);
    for (int k = 0; k < 9; ++k) {
        int iy = y + k / 3 - 1, ix = x + k % 3 - 1;
        if (iy < 0 || ix < 0 || iy >= H || ix >= W) continue;
        acc = __hfma(plane[iy * W + ix], w[c * 9 + k], acc);
    }
    out[((int64_t)n * C + c) * H * W + p] = __hfma(acc, sc[c], sh[c]);
}

void shufflenet_unit(const f16* x, const f16* w1, const f16* s1, const f16* t1, const f16* w2, const f16* s2,
                     const f16* t2, const f16* w3, const f16* s3, const f16* t3, f16* y, f16* a, f16* b, int N, int C,
                     int M, int H, int W, int groups, cudaStream_t s)
{
    int bx = CEIL_DIV(H * W, 128);
    k_group_pointwise<<<dim3(bx, M, N), 128, 0, s>>>(x, w1, s1, t1, nullptr, a, C, M, H * W, groups);
    k_shuffle_depthwise<<<dim3(bx, M, N), 128, 0, s>>>(a, w2, s2, t2, b, M, H, W, groups);
    k_group_pointwise<<<dim3(bx, C, N), 128, 0, s>>>(b, w3, s3, t3, x, y, M, C, H * W, groups);
}

// ===== VGG pair: conv3x3 relu, conv3x3 relu, max pool 2 =========================================
// A 16x16 tile of the input with a halo in shared memory, OCB output channels per block.
#define VT 16
#define OCB 4

template <bool POOL>
__global__ void k_vgg_conv(const f16* __restrict__ in, const f16* __restrict__ w, const f16* __restrict__ b,
                           f16* __restrict__ out, int C, int OC, int H, int W)
{
    __shared__ float tile[VT + 2][VT + 2];
    __shared__ float fw[OCB][9];
    __shared__ float res[OCB][VT][VT];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * VT + tx;
    const int tiles_x = (W + VT - 1) / VT;
    const int x0 = blockIdx.x % tiles_x * VT, y0 = blockIdx.x / tiles_x * VT;
    const int oc0 = blockIdx.y * OCB, n = blockIdx.z;

    float acc[OCB];
#pragma unroll
    for (int o = 0; o < OCB; ++o) acc[o] = oc0 + o < OC ? LD(b[oc0 + o]) : 0.f;

    for (int c = 0; c < C; ++c) {
        const f16* plane = in + (int64_t)(n * C + c) * H * W;
        for (int i = tid; i < (VT + 2) * (VT + 2); i += VT * VT) {
            int iy = y0 + i / (VT + 2) - 1, ix = x0 + i % (VT + 2) - 1;
            tile[i / (VT + 2)][i % (VT + 2)] = iy >= 0 && iy < H && ix >= 0 && ix < W ? LD(plane[iy * W + ix]) : 0.f;
        }
        if (tid < OCB * 9) {
            int o = tid / 9;
            fw[o][tid % 9] = oc0 + o < OC ? LD(w[((int64_t)(oc0 + o) * C + c) * 9 + tid % 9]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 9; ++k) {
            float v = tile[ty + k / 3][tx + k % 3];
#pragma unroll
            for (int o = 0; o < OCB; ++o) acc[o] += v * fw[o][k];
        }
        __syncthreads();
    }

    if (!POOL) {
        if (x0 + tx < W && y0 + ty < H)
            for (int o = 0; o < OCB && oc0 + o < OC; ++o)
                out[((int64_t)(n * OC + oc0 + o) * H + y0 + ty) * W + x0 + tx] = __float2half(act::relu(acc[o]));
        return;
    }
    for (int o = 0; o < OCB; ++o) res[o][ty][tx] = act::relu(acc[o]);
    __syncthreads();
    const int o = tid / 64, py = tid % 64 / 8, px = tid % 8;     // 4 channels x 8 x 8 pooled pixels
    const int gy = y0 / 2 + py, gx = x0 / 2 + px;
    if (oc0 + o < OC && gy < H / 2 && gx < W / 2) {
        float m = fmaxf(fmaxf(res[o][2 * py][2 * px], res[o][2 * py][2 * px + 1]),
                        fmaxf(res[o][2 * py + 1][2 * px], res[o][2 * py + 1][2 * px + 1]));
        out[((int64_t)(n * OC + oc0 + o) * (H / 2) + gy) * (W / 2) + gx] = __float2half(m);
    }
}

void vgg_pair(const f16* x, const f16* w1, const f16* b1, const f16* w2, const f16* b2, f16* y, f16* mid, int N, int C,
              int M, int OC, int H, int W, cudaStream_t s)
{
    const int tiles = CEIL_DIV(W, VT) * CEIL_DIV(H, VT);
    k_vgg_conv<false><<<dim3(tiles, CEIL_DIV(M, OCB), N), dim3(VT, VT), 0, s>>>(x, w1, b1, mid, C, M, H, W);
    k_vgg_conv<true><<<dim3(tiles, CEIL_DIV(OC, OCB), N), dim3(VT, VT), 0, s>>>(mid, w2, b2, y, M, OC, H, W);
}
