#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

// ---------------------------------------------------------------- SwiGLU
constexpr int TILE = 16;

__global__ void swiglu_up(const bf16* __restrict__ x, const bf16* __restrict__ wg, const bf16* __restrict__ wu,
                          bf16* __restrict__ h, int M, int D, int F) {
    __shared__ float xs[TILE][TILE], gs[TILE][TILE + 1], us[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * TILE + ty, f = blockIdx.x * TILE + tx, fl = blockIdx.x * TILE + ty;
    float g = 0.f, u = 0.f;
    for (int k0 = 0; k0 < D; k0 += TILE) {
        int k = k0 + tx;
        xs[ty][tx] = (m < M && k < D) ? __bfloat162float(x[(size_t)m * D + k]) : 0.f;
        gs[ty][tx] = (fl < F && k < D) ? __bfloat162float(wg[(size_t)fl * D + k]) : 0.f;
        us[ty][tx] = (fl < F && k < D) ? __bfloat162float(wu[(size_t)fl * D + k]) : 0.f;
        __syncthreads();
        for (int e = 0; e < TILE; ++e) {
            g += xs[ty][e] * gs[tx][e];
            u += xs[ty][e] * us[tx][e];
        }
        __syncthreads();
    }
    if (m < M && f < F) h[(size_t)m * F + f] = __float2bfloat16(g / (1.f + expf(-g)) * u);
}

__global__ void swiglu_down(const bf16* h, const bf16* wd, bf16* y, int M, int D, int F) {
    __shared__ bf16 hs[TILE][TILE], ws[TILE][TILE + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * TILE + ty, d = blockIdx.x * TILE + tx, dl = blockIdx.x * TILE + ty;
    float acc = 0.f;
    for (int k0 = 0; k0 < F; k0 += TILE) {
        int k = k0 + tx;
        hs[ty][tx] = (m < M && k < F) ? h[(size_t)m * F + k] : __float2bfloat16(0.f);
        ws[ty][tx] = (dl < D && k < F) ? wd[(size_t)dl * F + k] : __float2bfloat16(0.f);
        __syncthreads();
        for (int e = 0; e < TILE; ++e) acc += __bfloat162float(hs[ty][e]) * __bfloat162float(ws[tx][e]);
        __syncthreads();
    }
    if (m < M && d < D) y[(size_t)m * D + d] = __float2bfloat16(acc);
}

extern "C" void swiglu_mlp(const bf16* x, const bf16* wg, const bf16* wu, const bf16* wd, bf16* y, bf16* h, int M, int D, int F,
                           cudaStream_t stream) {
    dim3 b(TILE, TILE);
    swiglu_up<<<dim3((F + TILE - 1) / TILE, (M + TILE - 1) / TILE), b, 0, stream>>>(x, wg, wu, h, M, D, F);
    swiglu_down<<<dim3((D + TILE - 1) / TILE, (M + TILE - 1) / TILE), b, 0, stream>>>(h, wd, y, M, D, F);
}

// ---------------------------------------------------------------- minGPT: x + W2 newgelu(W1 x), weights as [in, out]
__device__ float new_gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

#define ROWS 4
template <bool GELU, bool RESIDUAL>
__global__ void conv1d_style_linear(const __half* x, const __half* w, const __half* b, const __half* res, __half* y, int M, int N,
                                    int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m0 = blockIdx.y * ROWS;
    if (n >= N) return;
    float acc[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) acc[r] = __half2float(b[n]);
    for (int k = 0; k < K; k++) {
        float wv = __half2float(w[(size_t)k * N + n]);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (m0 + r < M) acc[r] += __half2float(x[(size_t)(m0 + r) * K + k]) * wv;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int m = m0 + r;
        if (m < M) {
            float v = acc[r];
            if (GELU) v = new_gelu(v);
            if (RESIDUAL) v += __half2float(res[(size_t)m * N + n]);
            y[(size_t)m * N + n] = __float2half(v);
        }
    }
}

extern "C" void mingpt_mlp(const __half* x, const __half* w1, const __half* b1, const __half* w2, const __half* b2, __half* y,
                           __half* hidden, int M, int C) {
    dim3 g1((4 * C + 127) / 128, (M + ROWS - 1) / ROWS);
    conv1d_style_linear<true, false><<<g1, 128>>>(x, w1, b1, nullptr, hidden, M, 4 * C, C);
    dim3 g2((C + 127) / 128, (M + ROWS - 1) / ROWS);
    conv1d_style_linear<false, true><<<g2, 128>>>(hidden, w2, b2, x, y, M, C, 4 * C);
}

// ---------------------------------------------------------------- dense mixture of experts
__global__ void moe_gate(const __half* x, const __half* wg, float* p, int D, int E) {
    // one warp per token
    int t = blockIdx.x;
    int lane = threadIdx.x;
    float mx = -1e30f;
    for (int e = 0; e < E; e++) {
        float s = 0.f;
        for (int d = lane; d < D; d += 32) s += __half2float(x[(size_t)t * D + d]) * __half2float(wg[(size_t)e * D + d]);
        for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
        if (lane == 0) p[(size_t)t * E + e] = s;
        mx = fmaxf(mx, s);
    }
    if (lane == 0) {
        float sum = 0.f;
        for (int e = 0; e < E; e++) sum += expf(p[(size_t)t * E + e] - mx);
        for (int e = 0; e < E; e++) p[(size_t)t * E + e] = expf(p[(size_t)t * E + e] - mx) / sum;
    }
}

__global__ void moe_experts(const __half* x, const __half* w, const float* p, __half* y, int T, int D, int E, int O) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int t = blockIdx.y * blockDim.y + threadIdx.y;
    if (o >= O || t >= T) return;
    float acc = 0.f;
    for (int e = 0; e < E; e++) {
        float z = 0.f;
        const __half* we = w + (size_t)e * D * O + o;
        for (int d = 0; d < D; d++) z += __half2float(x[(size_t)t * D + d]) * __half2float(we[(size_t)d * O]);
        acc += p[(size_t)t * E + e] * fmaxf(z, 0.f);
    }
    y[(size_t)t * O + o] = __float2half(acc);
}

extern "C" void moe_dense(const __half* x, const __half* wg, const __half* w, __half* y, float* p, int T, int D, int E, int O,
                          cudaStream_t stream) {
    moe_gate<<<T, 32, 0, stream>>>(x, wg, p, D, E);
    moe_experts<<<dim3((O + 63) / 64, (T + 3) / 4), dim3(64, 4), 0, stream>>>(x, w, p, y, T, D, E, O);
}
