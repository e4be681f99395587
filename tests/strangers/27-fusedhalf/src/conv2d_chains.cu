#include "common.cuh"

// ===== conv2d -> min over channels -> tanh -> tanh ==============================================
// Valid 3x3. A thread owns a pixel and never writes the convolution itself.
__global__ void k_conv_min_tanh2(const f16* __restrict__ x, const f16* __restrict__ w, const f16* __restrict__ b,
                                 f16* __restrict__ y, int IC, int OC, int H, int W)
{
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z;
    int OH = H - 2, OW = W - 2;
    if (ox >= OW || oy >= OH) return;

    float best = 3.0e38f;
    for (int oc = 0; oc < OC; oc++) {
        float s = LD(b[oc]);
        for (int ic = 0; ic < IC; ic++) {
            const f16* px = x + ((int64_t)(n * IC + ic) * H + oy) * W + ox;
            const f16* pw = w + (oc * IC + ic) * 9;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) s += LD(px[r * W + c]) * LD(pw[r * 3 + c]);
        }
        best = fminf(best, s);
    }
    y[((int64_t)n * OH + oy) * OW + ox] = __float2half(tanhf(tanhf(best)));
}

void conv2d_min_tanh_tanh(const f16* x, const f16* w, const f16* b, f16* y, int N, int IC, int OC, int H, int W,
                          cudaStream_t s)
{
    dim3 blk(32, 4), grd(CEIL_DIV(W - 2, 32), CEIL_DIV(H - 2, 4), N);
    k_conv_min_tanh2<<<grd, blk, 0, s>>>(x, w, b, y, IC, OC, H, W);
}

// ===== conv2d -> instance norm -> divide ========================================================
struct ConvShape {
    int n, ic, oc, h, w, k, pad;
    __host__ __device__ int oh() const { return h + 2 * pad - k + 1; }
    __host__ __device__ int ow() const { return w + 2 * pad - k + 1; }
};

__global__ void k_conv_plain(const f16* x, const f16* wt, const f16* bias, float* out, ConvShape p)
{
    const int64_t total = (int64_t)p.n * p.oc * p.oh() * p.ow();
    GRID_STRIDE(i, total)
    {
        int64_t t = i;
        int ox = t % p.ow(); t /= p.ow();
        int oy = t % p.oh(); t /= p.oh();
        int oc = t % p.oc;
        int n = t / p.oc;
        // clip the window instead of asking for every tap
        int r0 = max(0, p.pad - oy), r1 = min(p.k, p.h + p.pad - oy);
        int c0 = max(0, p.pad - ox), c1 = min(p.k, p.w + p.pad - ox);
        float acc = LD(bias[oc]);
        for (int ic = 0; ic < p.ic; ic++)
            for (int r = r0; r < r1; r++)
                for (int c = c0; c < c1; c++)
                    acc += LD(x[(((int64_t)n * p.ic + ic) * p.h + oy - p.pad + r) * p.w + ox - p.pad + c]) *
                           LD(wt[((oc * p.ic + ic) * p.k + r) * p.k + c]);
        out[i] = acc;
    }
}

__global__ void k_instnorm_div(const float* in, f16* out, int hw, float eps, float divisor)
{
    const float* p = in + (int64_t)blockIdx.x * hw;
    f16* q = out + (int64_t)blockIdx.x * hw;
    float s = 0.f;
    for (int i = threadIdx.x; i < hw; i += blockDim.x) s += p[i];
    float mean = block_sum(s) / hw;
    float v = 0.f;
    for (int i = threadIdx.x; i < hw; i += blockDim.x) v += (p[i] - mean) * (p[i] - mean);
    float inv = rsqrtf(block_sum(v) / hw + eps);
    for (int i = threadIdx.x; i < hw; i += blockDim.x) q[i] = __float2half((p[i] - mean) * inv / divisor);
}

void conv2d_instancenorm_div(const f16* x, const f16* w, const f16* bias, f16* y, float* tmp, int N, int IC, int OC,
                             int H, int W, int K, int pad, float eps, float divisor, cudaStream_t s)
{
    ConvShape p{N, IC, OC, H, W, K, pad};
    int64_t total = (int64_t)N * OC * p.oh() * p.ow();
    int blocks = (int)(CEIL_DIV(total, 256) < 65535 ? CEIL_DIV(total, 256) : 65535);
    k_conv_plain<<<blocks, 256, 0, s>>>(x, w, bias, tmp, p);
    k_instnorm_div<<<N * OC, 256, 0, s>>>(tmp, y, p.oh() * p.ow(), eps, divisor);
}

// ===== conv2d -> group norm -> tanh -> hardswish -> + conv -> logsumexp over channels ===========
__global__ void k_conv3x3_same(const f16* __restrict__ x, const f16* __restrict__ w, const f16* __restrict__ b,
                               f16* __restrict__ o, int IC, int OC, int H, int W)
{
    const int pix = blockIdx.x * blockDim.x + threadIdx.x;
    if (pix >= H * W) return;
    const int oc = blockIdx.y, n = blockIdx.z;
    const int py = pix / W, px = pix - py * W;
    float acc = LD(b[oc]);
#define TAP(dy, dx)                                                                                  \
    do {                                                                                             \
        float v = (py + (dy) < 0 || py + (dy) >= H || px + (dx) < 0 || px + (dx) >= W)               \
                      ? 0.f                                                                          \
                      : LD(xp[(dy) * W + (dx)]);                                                     \
        acc += v * LD(wp[((dy) + 1) * 3 + (dx) + 1]);                                                \
    } while (0)
    for (int ic = 0; ic < IC; ++ic) {
        const f16* xp = x + (int64_t)(n * IC + ic) * H * W + pix;
        const f16* wp = w + (oc * IC + ic) * 9;
        TAP(-1, -1); TAP(-1, 0); TAP(-1, 1);
        TAP(0, -1);  TAP(0, 0);  TAP(0, 1);
        TAP(1, -1);  TAP(1, 0);  TAP(1, 1);
    }
#undef TAP
    o[(int64_t)(n * OC + oc) * H * W + pix] = __float2half(acc);
}

// one block per (image, group): stats[2 * block] = mean, [2 * block + 1] = 1 / std
__global__ void k_group_stats(const f16* __restrict__ v, float* __restrict__ stats, int len, float eps)
{
    const f16* p = v + (int64_t)blockIdx.x * len;
    float s = 0.f, ss = 0.f;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        float t = LD(p[i]);
        s += t;
        ss += t * t;
    }
    s = block_sum(s);
    ss = block_sum(ss);
    if (threadIdx.x == 0) {
        float m = s / len;
        stats[2 * blockIdx.x] = m;
        stats[2 * blockIdx.x + 1] = rsqrtf(ss / len - m * m + eps);
    }
}

__global__ void k_norm_act_res_lse(const f16* __restrict__ conv, const float* __restrict__ stats,
                                   const f16* __restrict__ gamma, const f16* __restrict__ beta, f16* __restrict__ y,
                                   int N, int C, int G, int HW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * HW) return;
    int n = i / HW, p = i % HW;
    float m = -3.0e38f, sum = 0.f;
    for (int c = 0; c < C; c++) {
        float v = LD(conv[((int64_t)n * C + c) * HW + p]);
        int g = n * G + c / (C / G);
        float t = (v - stats[2 * g]) * stats[2 * g + 1] * LD(gamma[c]) + LD(beta[c]);
        t = act::hswish(tanhf(t)) + v;
        if (t > m) {
            sum = sum * expf(m - t) + 1.f;
            m = t;
        } else {
            sum += expf(t - m);
        }
    }
    y[i] = __float2half(m + logf(sum));
}

void conv2d_gn_tanh_hswish_res_lse(const f16* x, const f16* w, const f16* b, const f16* gamma, const f16* beta, f16* y,
                                   f16* conv, float* stats, int N, int IC, int OC, int H, int W, int groups,
                                   float eps, cudaStream_t s)
{
    k_conv3x3_same<<<dim3(CEIL_DIV(H * W, 128), OC, N), 128, 0, s>>>(x, w, b, conv, IC, OC, H, W);
    k_group_stats<<<N * groups, 512, 0, s>>>(conv, stats, OC / groups * H * W, eps);
    k_norm_act_res_lse<<<CEIL_DIV(N * H * W, 256), 256, 0, s>>>(conv, stats, gamma, beta, y, N, OC, groups, H * W);
}
