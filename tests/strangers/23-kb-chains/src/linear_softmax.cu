#include <cfloat>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace chain {

// logits = x * W + b with W stored [in, out]; each thread computes four rows of a column.
template <int TILE, int ROWS>
__global__ void gemm_bias(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ b,
                          float* __restrict__ logits, int B, int IN, int OUT) {
    __shared__ float sx[TILE * ROWS][TILE];
    __shared__ float sw[TILE][TILE];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * TILE + tx;
    const int row0 = blockIdx.y * TILE * ROWS + ty;

    float acc[ROWS] = {};
    for (int k0 = 0; k0 < IN; k0 += TILE) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = row0 + r * TILE;
            sx[ty + r * TILE][tx] = (row < B && k0 + tx < IN) ? __half2float(x[(size_t)row * IN + k0 + tx]) : 0.f;
        }
        sw[ty][tx] = (k0 + ty < IN && col < OUT) ? __half2float(w[(size_t)(k0 + ty) * OUT + col]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const float v = sw[k][tx];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) acc[r] += sx[ty + r * TILE][k] * v;
        }
        __syncthreads();
    }

    if (col >= OUT) return;
    const float bias = __half2float(b[col]);
    for (int r = 0; r < ROWS; ++r) {
        const int row = row0 + r * TILE;
        if (row < B) logits[(size_t)row * OUT + col] = acc[r] + bias;
    }
}

template <int THREADS>
__global__ void softmax(const float* __restrict__ logits, __half* __restrict__ out, int OUT) {
    static_assert(THREADS % 32 == 0, "whole warps");
    __shared__ float red[THREADS / 32];
    const float* p = logits + (size_t)blockIdx.x * OUT;
    __half* o = out + (size_t)blockIdx.x * OUT;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // online: maximum and sum in one pass per thread
    float m = -FLT_MAX;
    float s = 0.f;
    for (int i = threadIdx.x; i < OUT; i += THREADS) {
        const float v = p[i];
        const float mn = fmaxf(m, v);
        s = s * __expf(m - mn) + __expf(v - mn);
        m = mn;
    }

    float bm = m;
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) bm = fmaxf(bm, __shfl_xor_sync(~0u, bm, d));
    if (lane == 0) red[warp] = bm;
    __syncthreads();
    bm = red[0];
    for (int i = 1; i < THREADS / 32; ++i) bm = fmaxf(bm, red[i]);
    __syncthreads();

    s *= __expf(m - bm);
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) red[warp] = s;
    __syncthreads();
    s = 0.f;
    for (int i = 0; i < THREADS / 32; ++i) s += red[i];

    const float inv = 1.f / s;
    for (int i = threadIdx.x; i < OUT; i += THREADS) o[i] = __float2half_rn(__expf(p[i] - bm) * inv);
}

}  // namespace chain

void linear_softmax(const __half* x, const __half* w, const __half* b, float* logits, __half* out,
                    int B, int IN, int OUT) {
    constexpr int TILE = 16, ROWS = 4, THREADS = 256;
    dim3 grid((OUT + TILE - 1) / TILE, (B + TILE * ROWS - 1) / (TILE * ROWS));
    chain::gemm_bias<TILE, ROWS><<<grid, dim3(TILE, TILE)>>>(x, w, b, logits, B, IN, OUT);
    chain::softmax<THREADS><<<B, THREADS>>>(logits, out, OUT);
}
