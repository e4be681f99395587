#include "common.cuh"
using bf16 = __nv_bfloat16;

// ===== conv3d (3x3x3 valid) -> hardswish -> group norm -> relu -> mean over the volume (bf16) ===
// grid: (voxels, channels, images); the filter of the block's channel is in shared memory
__global__ void k_conv3d_hswish(const bf16* __restrict__ x, const bf16* __restrict__ w, const bf16* __restrict__ b,
                                bf16* __restrict__ o, int IC, int OC, int D, int H, int W)
{
    extern __shared__ float sw[];
    const int oc = blockIdx.y, n = blockIdx.z;
    for (int i = threadIdx.x; i < IC * 27; i += blockDim.x) sw[i] = __bfloat162float(w[(int64_t)oc * IC * 27 + i]);
    __syncthreads();
    const int OD = D - 2, OH = H - 2, OW = W - 2;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= OD * OH * OW) return;
    const int ox = v % OW, oy = v / OW % OH, oz = v / OW / OH;
    float acc = __bfloat162float(b[oc]);
    for (int ic = 0; ic < IC; ++ic) {
        const bf16* p = x + (((int64_t)(n * IC + ic) * D + oz) * H + oy) * W + ox;
        const float* f = sw + ic * 27;
#pragma unroll
        for (int a = 0; a < 3; ++a)
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
                for (int c = 0; c < 3; ++c) acc += __bfloat162float(p[(a * H + r) * W + c]) * f[a * 9 + r * 3 + c];
    }
    o[(int64_t)(n * OC + oc) * OD * OH * OW + v] = __float2bfloat16(act::hswish(acc));
}

__global__ void k_gn_moments(const bf16* v, float2* mom, int len, float eps)
{
    const bf16* p = v + (int64_t)blockIdx.x * len;
    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        float t = __bfloat162float(p[i]);
        s += t;
        q += t * t;
    }
    s = block_sum(s) / len;
    q = block_sum(q) / len;
    if (!threadIdx.x) mom[blockIdx.x] = make_float2(s, rsqrtf(fmaxf(q - s * s, 0.f) + eps));
}

__global__ void k_gn_relu_mean(const bf16* v, const float2* mom, const bf16* gamma, const bf16* beta, bf16* y, int C,
                               int G, int vol)
{
    const int nc = blockIdx.x, c = nc % C, n = nc / C;
    const float2 m = mom[n * G + c / (C / G)];
    const float ga = __bfloat162float(gamma[c]) * m.y, be = __bfloat162float(beta[c]) - m.x * ga;
    float s = 0.f;
    for (int i = threadIdx.x; i < vol; i += blockDim.x)
        s += act::relu(__bfloat162float(v[(int64_t)nc * vol + i]) * ga + be);
    s = block_sum(s);
    if (threadIdx.x == 0) y[nc] = __float2bfloat16(s / vol);
}

void conv3d_hswish_gn_relu_mean(const bf16* x, const bf16* w, const bf16* b, const bf16* gamma, const bf16* beta,
                                bf16* y, bf16* tmp, float* mom, int N, int IC, int OC, int D, int H, int W, int G,
                                float eps, cudaStream_t s)
{
    const int vol = (D - 2) * (H - 2) * (W - 2);
    k_conv3d_hswish<<<dim3(CEIL_DIV(vol, 256), OC, N), 256, IC * 27 * sizeof(float), s>>>(x, w, b, tmp, IC, OC, D, H, W);
    k_gn_moments<<<N * G, 256, 0, s>>>(tmp, (float2*)mom, OC / G * vol, eps);
    k_gn_relu_mean<<<N * OC, 256, 0, s>>>(tmp, (const float2*)mom, gamma, beta, y, OC, G, vol);
}

// ===== conv3d (3, pad 1) -> max pool 2 -> logsumexp over channels -> relu ========================
// A thread makes one pooled voxel out of its eight convolutions.
__device__ float conv_at(const f16* x, const f16* w, int IC, int D, int H, int W, int z, int y, int c)
{
    float acc = 0.f;
    for (int ic = 0; ic < IC; ++ic)
        for (int a = max(0, z - 1); a <= min(D - 1, z + 1); ++a)
            for (int r = max(0, y - 1); r <= min(H - 1, y + 1); ++r)
                for (int q = max(0, c - 1); q <= min(W - 1, c + 1); ++q)
                    acc += LD(x[((ic * D + a) * H + r) * W + q]) *
                           LD(w[((ic * 3 + a - z + 1) * 3 + r - y + 1) * 3 + q - c + 1]);
    return acc;
}

__global__ void k_conv3d_pool(const f16* x, const f16* w, const f16* b, float* pooled, int N, int IC, int OC, int D,
                              int H, int W)
{
    const int PD = D / 2, PH = H / 2, PW = W / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * PD * PH * PW) return;
    int px = i % PW, py = i / PW % PH, pz = i / (PW * PH) % PD, oc = i / (PW * PH * PD) % OC, n = i / (PW * PH * PD * OC);
    float best = -3.0e38f;
    for (int k = 0; k < 8; ++k)
        best = fmaxf(best, conv_at(x + (int64_t)n * IC * D * H * W, w + oc * IC * 27, IC, D, H, W, 2 * pz + (k >> 2),
                                   2 * py + ((k >> 1) & 1), 2 * px + (k & 1)));
    pooled[i] = best + LD(b[oc]);
}

__global__ void k_lse_relu(const float* pooled, f16* y, int N, int OC, int vol)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * vol) return;
    const float* p = pooled + (int64_t)(i / vol) * OC * vol + i % vol;
    float m = -3.0e38f;
    for (int c = 0; c < OC; ++c) m = fmaxf(m, p[(int64_t)c * vol]);
    float s = 0.f;
    for (int c = 0; c < OC; ++c) s += expf(p[(int64_t)c * vol] - m);
    y[i] = __float2half(act::relu(m + logf(s)));
}

void conv3d_maxpool_lse_relu(const f16* x, const f16* w, const f16* b, f16* y, float* pooled, int N, int IC, int OC,
                             int D, int H, int W, cudaStream_t s)
{
    const int vol = (D / 2) * (H / 2) * (W / 2);
    k_conv3d_pool<<<CEIL_DIV(N * OC * vol, 128), 128, 0, s>>>(x, w, b, pooled, N, IC, OC, D, H, W);
    k_lse_relu<<<CEIL_DIV(N * vol, 128), 128, 0, s>>>(pooled, y, N, OC, vol);
}

// ===== convT3d (2x2x2, stride 2) -> * scale -> batch norm (batch statistics) -> global average ==
// Blocks of 2x2x2 outputs never overlap, so each input voxel can scatter its own without atomics.
__global__ void k_convt3d_scatter(const f16* __restrict__ x, const f16* __restrict__ w, const f16* __restrict__ b,
                                  f16* __restrict__ o, int N, int IC, int OC, int D, int H, int W, float scale)
{
    GRID_STRIDE(i, (int64_t)N * OC * D * H * W)
    {
        int64_t t = i;
        const int ix = t % W; t /= W;
        const int iy = t % H; t /= H;
        const int iz = t % D; t /= D;
        const int oc = t % OC;
        const int n = t / OC;
        float v[2][2][2];
        for (int k = 0; k < 8; ++k) v[k >> 2][k >> 1 & 1][k & 1] = LD(b[oc]);
        for (int ic = 0; ic < IC; ++ic) {
            const float xv = LD(x[(((int64_t)(n * IC + ic) * D + iz) * H + iy) * W + ix]);
            const f16* f = w + ((int64_t)ic * OC + oc) * 8;
#pragma unroll
            for (int a = 0; a < 2; ++a)
#pragma unroll
                for (int r = 0; r < 2; ++r)
#pragma unroll
                    for (int c = 0; c < 2; ++c) v[a][r][c] = fmaf(xv, LD(f[a * 4 + r * 2 + c]), v[a][r][c]);
        }
        for (int a = 0; a < 2; ++a)
            for (int r = 0; r < 2; ++r)
                for (int c = 0; c < 2; ++c)
                    o[(((int64_t)(n * OC + oc) * 2 * D + 2 * iz + a) * 2 * H + 2 * iy + r) * 2 * W + 2 * ix + c] =
                        __float2half(v[a][r][c] * scale);
    }
}

__global__ void k_bn_batch_stats(const f16* o, float* mean, float* rstd, int N, int OC, int vol, float eps)
{
    const int c = blockIdx.x;
    float s = 0.f, q = 0.f;
    for (int n = 0; n < N; ++n) {
        const f16* p = o + (int64_t)(n * OC + c) * vol;
        for (int i = threadIdx.x; i < vol; i += blockDim.x) {
            float t = LD(p[i]);
            s += t;
            q += t * t;
        }
    }
    s = block_sum(s) / ((float)N * vol);
    q = block_sum(q) / ((float)N * vol);
    if (threadIdx.x == 0) {
        mean[c] = s;
        rstd[c] = rsqrtf(q - s * s + eps);
    }
}

__global__ void k_bn_gap(const f16* o, const float* mean, const float* rstd, const f16* gamma, const f16* beta, f16* y,
                         int OC, int vol)
{
    const int c = blockIdx.x, n = blockIdx.y;
    const f16* p = o + ((int64_t)n * OC + c) * vol;
    float s = 0.f;
    for (int i = threadIdx.x; i < vol; i += blockDim.x)
        s += (LD(p[i]) - mean[c]) * rstd[c] * LD(gamma[c]) + LD(beta[c]);
    s = block_sum(s);
    if (threadIdx.x == 0) y[n * OC + c] = __float2half(s / vol);
}

void convt3d_scale_bn_gap(const f16* x, const f16* w, const f16* b, const f16* gamma, const f16* beta, f16* y, f16* tmp,
                          float* mean, float* rstd, int N, int IC, int OC, int D, int H, int W, float scale, float eps,
                          cudaStream_t s)
{
    const int vol = 8 * D * H * W;
    const int64_t items = (int64_t)N * OC * D * H * W;
    k_convt3d_scatter<<<(int)(CEIL_DIV(items, 256) > 8192 ? 8192 : CEIL_DIV(items, 256)), 256, 0, s>>>(x, w, b, tmp, N, IC, OC, D, H, W, scale);
    k_bn_batch_stats<<<OC, 1024, 0, s>>>(tmp, mean, rstd, N, OC, vol, eps);
    k_bn_gap<<<dim3(OC, N), 256, 0, s>>>(tmp, mean, rstd, gamma, beta, y, OC, vol);
}
