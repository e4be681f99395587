#include "common.cuh"

// ===== cross attention: queries from x, keys and values from a context ==========================
// y = softmax(q k^T / sqrt(dh)) v Wo^T + bo, every projection without a bias but the last one.

// out[m, n] = sum_k a[m, k] * w[n, k] (+ bias[n])
template <bool BIAS>
__global__ void k_proj(const f16* a, const f16* w, const f16* bias, f16* out, int M, int N, int K)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (n >= N || m >= M) return;
    float acc = BIAS ? LD(bias[n]) : 0.f;
    for (int k = 0; k < K; ++k) acc += LD(a[m * K + k]) * LD(w[n * K + k]);
    out[m * N + n] = __float2half(acc);
}

// A block of 128 threads per (query, head, image); scores of the whole context in shared memory.
__global__ void k_attend(const f16* __restrict__ q, const f16* __restrict__ k, const f16* __restrict__ v,
                         f16* __restrict__ o, int TQ, int TK, int heads, int dh)
{
    extern __shared__ float sc[];
    __shared__ float red[4];
    const int tq = blockIdx.x, hd = blockIdx.y, b = blockIdx.z;
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    const int dim = heads * dh;
    const f16* qp = q + ((int64_t)b * TQ + tq) * dim + hd * dh;
    const float scale = rsqrtf((float)dh);

    float m = -3.0e38f;
    for (int t = wid; t < TK; t += 4) {
        const f16* kp = k + ((int64_t)b * TK + t) * dim + hd * dh;
        float s = 0.f;
        for (int d = lane; d < dh; d += 32) s += LD(qp[d]) * LD(kp[d]);
        for (int off = 16; off; off >>= 1) s += __shfl_xor_sync(0xffffffff, s, off);
        s *= scale;
        if (lane == 0) sc[t] = s;
        m = fmaxf(m, s);
    }
    if (lane == 0) red[wid] = m;
    __syncthreads();
    m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));

    float sum = 0.f;
    for (int t = threadIdx.x; t < TK; t += 128) {
        float e = expf(sc[t] - m);
        sc[t] = e;
        sum += e;
    }
    sum = block_sum(sum);

    for (int d = threadIdx.x; d < dh; d += 128) {
        float acc = 0.f;
        for (int t = 0; t < TK; ++t) acc += sc[t] * LD(v[((int64_t)b * TK + t) * dim + hd * dh + d]);
        o[((int64_t)b * TQ + tq) * dim + hd * dh + d] = __float2half(acc / sum);
    }
}

void cross_attention(const f16* x, const f16* ctx, const f16* wq, const f16* wk, const f16* wv, const f16* wo,
                     const f16* bo, f16* y, f16* q, f16* k, f16* v, f16* o, int B, int TQ, int TK, int D, int DC,
                     int heads, int dh, cudaStream_t s)
{
    const int inner = heads * dh;
    dim3 blk(32, 8);
    k_proj<false><<<dim3(CEIL_DIV(inner, 32), CEIL_DIV(B * TQ, 8)), blk, 0, s>>>(x, wq, nullptr, q, B * TQ, inner, D);
    k_proj<false><<<dim3(CEIL_DIV(inner, 32), CEIL_DIV(B * TK, 8)), blk, 0, s>>>(ctx, wk, nullptr, k, B * TK, inner, DC);
    k_proj<false><<<dim3(CEIL_DIV(inner, 32), CEIL_DIV(B * TK, 8)), blk, 0, s>>>(ctx, wv, nullptr, v, B * TK, inner, DC);
    k_attend<<<dim3(TQ, heads, B), 128, TK * sizeof(float), s>>>(q, k, v, o, TQ, TK, heads, dh);
    k_proj<true><<<dim3(CEIL_DIV(D, 32), CEIL_DIV(B * TQ, 8)), blk, 0, s>>>(o, wo, bo, y, B * TQ, D, inner);
}

// ===== ViT patch embedding: strided convolution as a gemm, class token, positions ===============
// rows of the gemm: (image, patch); columns: embedding; 16x16 tiles, patches gathered on the fly
template <int P>
__global__ void k_patch_embed(const f16* __restrict__ img, const f16* __restrict__ w, const f16* __restrict__ b,
                              const f16* __restrict__ pos, f16* __restrict__ y, int B, int C, int H, int W, int E)
{
    __shared__ f16 tp[16][17];
    __shared__ f16 tw[16][17];
    const int gw = W / P, patches = (H / P) * gw, K = C * P * P;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty;      // patch of this thread
    const int e = blockIdx.x * 16 + tx;        // its embedding coordinate
    const int we = blockIdx.x * 16 + ty;       // the row of w that it loads
    const bool live = row < B * patches;
    const int n = live ? row / patches : 0, p = live ? row % patches : 0;
    const int y0 = p / gw * P, x0 = p % gw * P;

    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        const int k = k0 + tx;
        const int c = k / (P * P), r = k / P % P, q = k % P;
        tp[ty][tx] = live && k < K ? img[((int64_t)(n * C + c) * H + y0 + r) * W + x0 + q] : __float2half(0.f);
        tw[ty][tx] = we < E && k < K ? w[(int64_t)we * K + k] : __float2half(0.f);
        __syncthreads();
        for (int i = 0; i < 16; ++i) acc += LD(tp[ty][i]) * LD(tw[tx][i]);
        __syncthreads();
    }
    if (live && e < E)
        y[((int64_t)n * (patches + 1) + 1 + p) * E + e] = __float2half(acc + LD(b[e]) + LD(pos[(int64_t)(1 + p) * E + e]));
}

__global__ void k_class_token(const f16* cls, const f16* pos, f16* y, int tokens, int E)
{
    for (int e = threadIdx.x; e < E; e += blockDim.x)
        y[(int64_t)blockIdx.x * tokens * E + e] = __hadd(cls[e], pos[e]);
}

void vit_patch_embed16(const f16* img, const f16* w, const f16* b, const f16* cls, const f16* pos, f16* y, int B, int C,
                       int H, int W, int E, cudaStream_t s)
{
    const int patches = (H / 16) * (W / 16);
    k_patch_embed<16><<<dim3(CEIL_DIV(E, 16), CEIL_DIV(B * patches, 16)), dim3(16, 16), 0, s>>>(img, w, b, pos, y, B, C, H, W, E);
    k_class_token<<<B, 128, 0, s>>>(cls, pos, y, patches + 1, E);
}
