#include "common.cuh"

// ===== linear -> group norm -> min over features -> + bias (per feature) ========================
// 32x32 tile per block of 16x16 threads, 2x2 outputs per thread.
constexpr int TM = 32, TN = 32, TK = 16;

__global__ void __launch_bounds__(256)
k_gemm_nt(const f16* __restrict__ A, const f16* __restrict__ B, const f16* __restrict__ bias, float* __restrict__ C,
          int M, int N, int K)
{
    __shared__ float sa[TK][TM + 1];
    __shared__ float sb[TK][TN + 1];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int m0 = blockIdx.y * TM, n0 = blockIdx.x * TN;
    float c[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int i = threadIdx.x; i < TM * TK; i += 256) {
            int r = i / TK, k = i % TK;
            sa[k][r] = (m0 + r < M && k0 + k < K) ? LD(A[(int64_t)(m0 + r) * K + k0 + k]) : 0.f;
            sb[k][r] = (n0 + r < N && k0 + k < K) ? LD(B[(int64_t)(n0 + r) * K + k0 + k]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TK; ++k) {
            float a0 = sa[k][ty], a1 = sa[k][ty + 16], b0 = sb[k][tx], b1 = sb[k][tx + 16];
            c[0][0] += a0 * b0;
            c[0][1] += a0 * b1;
            c[1][0] += a1 * b0;
            c[1][1] += a1 * b1;
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int m = m0 + ty + 16 * i, n = n0 + tx + 16 * j;
            if (m < M && n < N) C[(int64_t)m * N + n] = c[i][j] + LD(bias[n]);
        }
}

// one warp per group for the statistics, then the block reduces the minimum
__global__ void k_gn_min(const float* __restrict__ g, const f16* __restrict__ gamma, const f16* __restrict__ beta,
                         float* __restrict__ mn, int F, int groups, float eps)
{
    __shared__ float wmin[8];
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    const int per = F / groups;
    const float* row = g + (int64_t)blockIdx.x * F;
    float best = 3.0e38f;
    for (int q = wid; q < groups; q += 8) {
        float s = 0.f, ss = 0.f;
        for (int j = lane; j < per; j += 32) {
            float v = row[q * per + j];
            s += v;
            ss += v * v;
        }
        for (int o = 16; o; o >>= 1) {
            s += __shfl_xor_sync(0xffffffff, s, o);
            ss += __shfl_xor_sync(0xffffffff, ss, o);
        }
        float mean = s / per, inv = rsqrtf(ss / per - mean * mean + eps);
        for (int j = lane; j < per; j += 32) {
            int f = q * per + j;
            best = fminf(best, (row[f] - mean) * inv * LD(gamma[f]) + LD(beta[f]));
        }
    }
    for (int o = 16; o; o >>= 1) best = fminf(best, __shfl_xor_sync(0xffffffff, best, o));
    if (lane == 0) wmin[wid] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) best = fminf(best, wmin[i]);
        mn[blockIdx.x] = best;
    }
}

__global__ void k_add_outer(const float* mn, const f16* bias, f16* y, int M, int F)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (int64_t)M * F) y[i] = __float2half(mn[i / F] + LD(bias[i % F]));
}

void gemm_groupnorm_min_bias(const f16* x, const f16* w, const f16* b, const f16* gamma, const f16* beta,
                             const f16* out_bias, f16* y, float* tmp, float* mn, int M, int F, int K, int groups,
                             float eps, cudaStream_t s)
{
    k_gemm_nt<<<dim3(CEIL_DIV(F, TN), CEIL_DIV(M, TM)), 256, 0, s>>>(x, w, b, tmp, M, F, K);
    k_gn_min<<<M, 256, 0, s>>>(tmp, gamma, beta, mn, F, groups, eps);
    k_add_outer<<<CEIL_DIV((int64_t)M * F, 256), 256, 0, s>>>(mn, out_bias, y, M, F);
}

// ===== Elman step: h' = tanh([x, h] Wi^T + bi), out = h' Wo^T + bo ==============================
// a warp per output, rows of the batch on grid.y
__global__ void k_rnn_hidden(const f16* __restrict__ x, const f16* __restrict__ h, const f16* __restrict__ wi,
                             const f16* __restrict__ bi, f16* __restrict__ hn, int I, int H)
{
    const int j = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31, row = blockIdx.y;
    if (j >= H) return;
    const f16* wr = wi + (int64_t)j * (I + H);
    float s = 0.f;
    for (int k = lane; k < I; k += 32) s += LD(x[(int64_t)row * I + k]) * LD(wr[k]);
    for (int k = lane; k < H; k += 32) s += LD(h[(int64_t)row * H + k]) * LD(wr[I + k]);
    s = warp_sum(s);
    if (lane == 0) hn[(int64_t)row * H + j] = __float2half(tanhf(s + LD(bi[j])));
}

__global__ void k_rnn_out(const f16* __restrict__ hn, const f16* __restrict__ wo, const f16* __restrict__ bo,
                          f16* __restrict__ out, int H, int O)
{
    const int j = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31, row = blockIdx.y;
    if (j >= O) return;
    float s = 0.f;
    for (int k = lane; k < H; k += 32) s += LD(hn[(int64_t)row * H + k]) * LD(wo[(int64_t)j * H + k]);
    s = warp_sum(s);
    if (lane == 0) out[(int64_t)row * O + j] = __float2half(s + LD(bo[j]));
}

void rnn_step(const f16* x, const f16* h, const f16* wi, const f16* bi, const f16* wo, const f16* bo, f16* h_next,
              f16* out, int B, int I, int H, int O, cudaStream_t s)
{
    k_rnn_hidden<<<dim3(CEIL_DIV(H, 4), B), 128, 0, s>>>(x, h, wi, bi, h_next, I, H);
    k_rnn_out<<<dim3(CEIL_DIV(O, 4), B), 128, 0, s>>>(h_next, wo, bo, out, H, O);
}
