// Level 2: convolutions and what follows them. NCHW / NCDHW.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// ---- conv2d, 3 x 5 window, "same" padding, then bias + hardswish ---------------------------------------------------------------------
__global__ void conv3x5(const half* x, const half* w, half* y, int N, int C, int H, int W, int K)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * K * H * W) return;
    int ow = idx % W;
    int oh = idx / W % H;
    int k = idx / (W * H) % K;
    int n = idx / (W * H * K);
    float acc = 0.f;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < 3; r++) {
            int ih = oh + r - 1;
            if (ih < 0 || ih >= H) continue;
            for (int s = 0; s < 5; s++) {
                int iw = ow + s - 2;
                if (iw < 0 || iw >= W) continue;
                acc += __half2float(x[((n * C + c) * H + ih) * W + iw]) * __half2float(w[((k * C + c) * 3 + r) * 5 + s]);
            }
        }
    y[idx] = __float2half(acc);
}

__global__ void bias_hardswish(half* y, const float* bias, int total, int plane, int K)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= total) return;
    float v = __half2float(y[idx]) + bias[idx / plane % K];
    y[idx] = __float2half(v * fminf(fmaxf(v + 3.f, 0.f), 6.f) / 6.f);
}

void conv3x5_bias_hardswish(const half* x, const half* w, const float* bias, half* y, int N, int C, int H, int W, int K, cudaStream_t st)
{
    int total = N * K * H * W;
    conv3x5<<<(total + 127) / 128, 128, 0, st>>>(x, w, y, N, C, H, W, K);
    bias_hardswish<<<(total + 255) / 256, 256, 0, st>>>(y, bias, total, H * W, K);
}

// ---- transposed conv (4 x 4, stride 2, padding 1), * scale, maxpool 2, tanh ----------------------------------------------------------
__global__ void deconv4x4s2(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y,
                            int Ci, int H, int W, int Co)
{
    int OH = 2 * H, OW = 2 * W;
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= OH * OW) return;
    int co = blockIdx.y, n = blockIdx.z;
    int oy = p / OW, ox = p % OW;
    float v = b[co];
    for (int ci = 0; ci < Ci; ++ci) {
        for (int ky = 0; ky < 4; ++ky) {
            int ty = oy + 1 - ky;
            if (ty < 0 || ty % 2 != 0) continue;
            int iy = ty / 2;
            if (iy >= H) continue;
            for (int kx = 0; kx < 4; ++kx) {
                int tx = ox + 1 - kx;
                if (tx < 0 || tx % 2 != 0) continue;
                int ix = tx / 2;
                if (ix >= W) continue;
                v += x[((n * Ci + ci) * H + iy) * W + ix] * w[((ci * Co + co) * 4 + ky) * 4 + kx];  // weights [Ci][Co][4][4]
            }
        }
    }
    y[((n * Co + co) * OH + oy) * OW + ox] = v;
}

__global__ void scale_pool_tanh(const float* y, float* out, int planes, int H, int W, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * H * W) return;
    int c = i % W, r = i / W % H, pl = i / (W * H);
    const float* src = y + (size_t)pl * 4 * H * W;
    float best = -INFINITY;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            best = fmaxf(best, scale * src[(2 * r + a) * 2 * W + 2 * c + b]);
    out[i] = tanhf(best);
}

void deconv_scale_maxpool_tanh(const float* x, const float* w, const float* b, float* tmp, float* out, int N, int Ci, int Co, int H, int W,
                               float scale)
{
    dim3 g((4 * H * W + 255) / 256, Co, N);
    deconv4x4s2<<<g, 256>>>(x, w, b, tmp, Ci, H, W, Co);
    int n = N * Co * H * W;
    scale_pool_tanh<<<(n + 255) / 256, 256>>>(tmp, out, N * Co, H, W, scale);
}

// ---- conv3d (3 x 3 x 3, valid), group norm, softplus-gated (mish) --------------------------------------------------------------------
__global__ void conv3d_valid(const __nv_bfloat16* x, const __nv_bfloat16* w, float* y, int N, int C, int K, int D, int H, int W)
{
    int OD = D - 2, OH = H - 2, OW = W - 2;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)N * K * OD * OH * OW) return;
    int ow = i % OW;
    long long t = i / OW;
    int oh = t % OH; t /= OH;
    int od = t % OD; t /= OD;
    int k = t % K;
    int n = t / K;
    float s = 0;
    for (int c = 0; c < C; ++c)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                for (int e = 0; e < 3; ++e)
                    s += __bfloat162float(x[(((size_t)(n * C + c) * D + od + a) * H + oh + b) * W + ow + e]) *
                         __bfloat162float(w[((k * C + c) * 3 + a) * 9 + b * 3 + e]);
    y[i] = s;
}

__global__ void group_stats(const float* y, float* mean, float* rstd, int span, float eps)
{
    __shared__ float sh[256], sh2[256];
    const float* p = y + (size_t)blockIdx.x * span;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < span; i += blockDim.x) a += p[i];
    sh[threadIdx.x] = a;
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) {
        if (threadIdx.x < o) sh[threadIdx.x] += sh[threadIdx.x + o];
        __syncthreads();
    }
    float m = sh[0] / span;
    for (int i = threadIdx.x; i < span; i += blockDim.x) { float d = p[i] - m; b += d * d; }
    sh2[threadIdx.x] = b;
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) {
        if (threadIdx.x < o) sh2[threadIdx.x] += sh2[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) { mean[blockIdx.x] = m; rstd[blockIdx.x] = rsqrtf(sh2[0] / span + eps); }
}

__global__ void norm_mish(const float* y, const float* mean, const float* rstd, const float* gamma, const float* beta, __nv_bfloat16* out,
                          int total, int plane, int K, int G)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int k = i / plane % K, n = i / plane / K;
    int g = n * G + k / (K / G);
    float v = (y[i] - mean[g]) * rstd[g] * gamma[k] + beta[k];
    float sp = v > 20.f ? v : log1pf(expf(v));
    out[i] = __float2bfloat16(v * tanhf(sp));
}

void conv3d_groupnorm_mish(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* gamma, const float* beta, __nv_bfloat16* out,
                           float* conv, float* mean, float* rstd, int N, int C, int G, int KG, int D, int H, int W, float eps,
                           cudaStream_t st)
{
    int K = G * KG;
    int plane = (D - 2) * (H - 2) * (W - 2);
    int total = N * K * plane;
    conv3d_valid<<<(total + 255) / 256, 256, 0, st>>>(x, w, conv, N, C, K, D, H, W);
    group_stats<<<N * G, 256, 0, st>>>(conv, mean, rstd, KG * plane, eps);
    norm_mish<<<(total + 255) / 256, 256, 0, st>>>(conv, mean, rstd, gamma, beta, out, total, plane, K, G);
}

// ---- grouped conv2d 3 x 3, stride 2, padding 1, leaky relu, in one kernel ------------------------------------------------------------
__global__ void grouped_conv_s2(const half* __restrict__ x, const half* __restrict__ w, half* __restrict__ y, int G, int Cg, int Kg, int H,
                                int W, int OH, int OW, float slope)
{
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int nk = blockIdx.z;
    if (ow >= OW || oh >= OH) return;
    int k = nk % (G * Kg), n = nk / (G * Kg);
    int g = k / Kg;
    const half* xin = x + (size_t)(n * G + g) * Cg * H * W;
    const half* wk = w + (size_t)k * Cg * 9;
    float acc = 0.f;
    for (int c = 0; c < Cg; ++c) {
#pragma unroll
        for (int r = 0; r < 3; ++r) {
#pragma unroll
            for (int s = 0; s < 3; ++s) {
                int ih = 2 * oh - 1 + r, iw = 2 * ow - 1 + s;
                if (ih >= 0 && ih < H && iw >= 0 && iw < W)
                    acc = fmaf(__half2float(xin[(c * H + ih) * W + iw]), __half2float(wk[c * 9 + r * 3 + s]), acc);
            }
        }
    }
    y[((size_t)nk * OH + oh) * OW + ow] = __float2half(acc > 0.f ? acc : slope * acc);
}

void grouped_conv_s2_leaky(const half* x, const half* w, half* y, int N, int G, int Cg, int Kg, int H, int W, float slope)
{
    int OH = (H + 1) / 2, OW = (W + 1) / 2;
    dim3 block(16, 8), grid((OW + 15) / 16, (OH + 7) / 8, N * G * Kg);
    grouped_conv_s2<<<grid, block>>>(x, w, y, G, Cg, Kg, H, W, OH, OW, slope);
}
