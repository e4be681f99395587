#include "common.cuh"

// ===== convT2d (3x3, stride 2, pad 1, output_padding 1) -> mish -> + a -> hardtanh -> * s ========
// Filters of one output channel in shared memory, two output columns per thread: the even one
// has one horizontal tap, the odd one has two.
template <int BLOCK>
__global__ void k_convt_mish_chain(const f16* __restrict__ x, const f16* __restrict__ w, const f16* __restrict__ b,
                                   f16* __restrict__ y, int IC, int OC, int H, int W, float add, float lo, float hi,
                                   float scale)
{
    extern __shared__ float filt[];   // IC * 9
    const int n = blockIdx.z, oc = blockIdx.y;
    for (int i = threadIdx.x; i < IC * 9; i += BLOCK)
        filt[i] = LD(w[((int64_t)(i / 9) * OC + oc) * 9 + i % 9]);
    __syncthreads();

    const int OH = 2 * H;
    int item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= OH * W) return;
    const int oy = item / W, ix = item % W;

    float even = LD(b[oc]), odd = even;
    const bool right = ix + 1 < W;
    for (int r = (oy + 1) & 1; r < 3; r += 2) {
        const int iy = (oy + 1 - r) >> 1;
        if (iy >= H) continue;
        const f16* row = x + ((int64_t)n * IC * H + iy) * W + ix;
        for (int ic = 0; ic < IC; ++ic, row += (int64_t)H * W) {
            const float* f = filt + ic * 9 + r * 3;
            const float a = LD(row[0]);
            const float c = right ? LD(row[1]) : 0.f;
            even += a * f[1];
            odd += a * f[2] + c * f[0];
        }
    }
    even = act::hardtanh(act::mish(even) + add, lo, hi) * scale;
    odd = act::hardtanh(act::mish(odd) + add, lo, hi) * scale;
    reinterpret_cast<__half2*>(y)[((int64_t)(n * OC + oc) * OH + oy) * W + ix] = __floats2half2_rn(even, odd);
}

void convt2d_mish_add_hardtanh_scale(const f16* x, const f16* w, const f16* b, f16* y, int N, int IC, int OC, int H,
                                     int W, float add, float lo, float hi, float scale, cudaStream_t s)
{
    k_convt_mish_chain<128><<<dim3(CEIL_DIV(2 * H * W, 128), OC, N), 128, IC * 9 * sizeof(float), s>>>(
        x, w, b, y, IC, OC, H, W, add, lo, hi, scale);
}

// ===== convT2d (3x3, scattered) -> min over channels -> sum over height -> gelu -> + bias =======
__global__ void k_fill_bias(float* acc, const f16* b, int OC, int hw, int64_t total)
{
    GRID_STRIDE(i, total) acc[i] = LD(b[(i / hw) % OC]);
}

__global__ void k_convt_scatter(const f16* __restrict__ x, const f16* __restrict__ w, float* __restrict__ acc, int N,
                                int IC, int OC, int H, int W, int stride, int pad, int OH, int OW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * H * W) return;
    const int ix = i % W, iy = i / W % H, oc = i / (W * H) % OC, n = i / (W * H * OC);
    float v[9] = {0.f};
    for (int ic = 0; ic < IC; ++ic) {
        float xv = LD(x[((int64_t)(n * IC + ic) * H + iy) * W + ix]);
        const f16* f = w + (ic * OC + oc) * 9;
#pragma unroll
        for (int t = 0; t < 9; ++t) v[t] += xv * LD(f[t]);
    }
    for (int t = 0; t < 9; ++t) {
        int oy = iy * stride - pad + t / 3, ox = ix * stride - pad + t % 3;
        if (oy >= 0 && oy < OH && ox >= 0 && ox < OW)
            atomicAdd(&acc[((int64_t)(n * OC + oc) * OH + oy) * OW + ox], v[t]);
    }
}

__global__ void k_channel_min(const float* acc, float* mn, int N, int OC, int hw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * hw) return;
    const float* p = acc + (int64_t)(i / hw) * OC * hw + i % hw;
    float m = p[0];
    for (int c = 1; c < OC; ++c) m = fminf(m, p[(int64_t)c * hw]);
    mn[i] = m;
}

__global__ void k_height_sum_gelu(const float* mn, const f16* bias2, f16* y, int N, int OH, int OW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OW) return;
    int n = i / OW, ox = i % OW;
    float s = 0.f;
    for (int oy = 0; oy < OH; ++oy) s += mn[((int64_t)n * OH + oy) * OW + ox];
    y[i] = __float2half(act::gelu(s) + LD(bias2[0]));
}

void convt2d_min_sum_gelu_add(const f16* x, const f16* w, const f16* b, const f16* bias2, f16* y, float* acc,
                              float* mn, int N, int IC, int OC, int H, int W, int stride, int pad, int opad,
                              cudaStream_t s)
{
    const int OH = (H - 1) * stride - 2 * pad + 3 + opad;
    const int OW = (W - 1) * stride - 2 * pad + 3 + opad;
    const int64_t total = (int64_t)N * OC * OH * OW;
    k_fill_bias<<<1024, 256, 0, s>>>(acc, b, OC, OH * OW, total);
    k_convt_scatter<<<CEIL_DIV(N * OC * H * W, 128), 128, 0, s>>>(x, w, acc, N, IC, OC, H, W, stride, pad, OH, OW);
    k_channel_min<<<CEIL_DIV(N * OH * OW, 256), 256, 0, s>>>(acc, mn, N, OC, OH * OW);
    k_height_sum_gelu<<<CEIL_DIV(N * OW, 64), 64, 0, s>>>(mn, bias2, y, N, OH, OW);
}

// ===== convT2d -> softmax over channels -> + bias -> * scale -> sigmoid =========================
// Half accumulators: with normalised weights it is good enough for us.
__global__ void k_convt_half(const f16* x, const f16* w, f16* out, int64_t total, int IC, int OC, int H, int W, int K,
                             int stride, int pad, int OH, int OW)
{
    GRID_STRIDE(i, total)
    {
        const int64_t ox = i % OW, oy = (i / OW) % OH, oc = (i / (OW * OH)) % OC, n = i / ((int64_t)OW * OH * OC);
        f16 acc = __float2half(0.f);
        for (int64_t r = 0; r < K; r++) {
            const int64_t ty = oy + pad - r;
            if (ty < 0 || ty % stride) continue;
            const int64_t iy = ty / stride;
            if (iy >= H) continue;
            for (int64_t c = 0; c < K; c++) {
                const int64_t tx = ox + pad - c;
                if (tx < 0 || tx % stride) continue;
                const int64_t ix = tx / stride;
                if (ix >= W) continue;
                for (int64_t ic = 0; ic < IC; ic++)
                    acc = __hfma(x[((n * IC + ic) * H + iy) * W + ix], w[((ic * OC + oc) * K + r) * K + c], acc);
            }
        }
        out[i] = acc;
    }
}

__global__ void k_softmax_bias_sigmoid(const f16* v, const f16* bias, f16* y, int N, int C, int hw, float scale)
{
    GRID_STRIDE(i, (int64_t)N * hw)
    {
        const int64_t base = i / hw * C * hw + i % hw;
        float m = -65504.f;
        for (int c = 0; c < C; c++) m = fmaxf(m, LD(v[base + (int64_t)c * hw]));
        float s = 0.f;
        for (int c = 0; c < C; c++) s += expf(LD(v[base + (int64_t)c * hw]) - m);
        for (int c = 0; c < C; c++) {
            float p = expf(LD(v[base + (int64_t)c * hw]) - m) / s;
            y[base + (int64_t)c * hw] = __float2half(act::sigmoid((p + LD(bias[c])) * scale));
        }
    }
}

void convt2d_softmax_bias_scale_sigmoid(const f16* x, const f16* w, const f16* bias, f16* y, f16* tmp, int N, int IC,
                                        int OC, int H, int W, int K, int stride, int pad, float scale, cudaStream_t s)
{
    const int OH = (H - 1) * stride - 2 * pad + K, OW = (W - 1) * stride - 2 * pad + K;
    k_convt_half<<<4096, 128, 0, s>>>(x, w, tmp, (int64_t)N * OC * OH * OW, IC, OC, H, W, K, stride, pad, OH, OW);
    k_softmax_bias_sigmoid<<<1024, 128, 0, s>>>(tmp, bias, y, N, OC, OH * OW, scale);
}
