// y = min over features( GroupNorm( x W^T + b ) ) + bias, broadcast to (C, M)
#include <cuda_runtime.h>

#define TILE_M 64
#define TILE_N 64
#define TILE_K 16

__global__ __launch_bounds__(256) void linear_tiled(const float* __restrict__ X, const float* __restrict__ Wt,
                                                    const float* __restrict__ b, float* __restrict__ Y, int M, int N, int K) {
    __shared__ float xs[TILE_K][TILE_M + 4];
    __shared__ float ws[TILE_K][TILE_N + 4];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int m0 = blockIdx.y * TILE_M, n0 = blockIdx.x * TILE_N;

    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int i = threadIdx.x; i < TILE_M * TILE_K; i += 256) {
            const int r = i / TILE_K, k = i % TILE_K;
            xs[k][r] = (m0 + r < M && k0 + k < K) ? X[(size_t)(m0 + r) * K + k0 + k] : 0.f;
            ws[k][r] = (n0 + r < N && k0 + k < K) ? Wt[(size_t)(n0 + r) * K + k0 + k] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE_K; ++k) {
            float a[4], w[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = xs[k][ty * 4 + i];
#pragma unroll
            for (int j = 0; j < 4; ++j) w[j] = ws[k][tx * 4 + j];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * w[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int m = m0 + ty * 4 + i, n = n0 + tx * 4 + j;
            if (m < M && n < N) Y[(size_t)m * N + n] = acc[i][j] + b[n];
        }
}

__inline__ __device__ float warpSum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__inline__ __device__ float warpMin(float v) {
    for (int d = 16; d > 0; d /= 2) v = fminf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}

// a block per row, the warps share the groups
__global__ void groupnorm_rowmin(const float* __restrict__ Y, const float* __restrict__ gamma, const float* __restrict__ beta,
                                 float* __restrict__ row_min, int N, int G, float eps) {
    __shared__ float mins[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const int size = N / G;
    const float* row = Y + (size_t)blockIdx.x * N;

    float best = INFINITY;
    for (int g = warp; g < G; g += warps) {
        float s = 0.f;
        for (int i = lane; i < size; i += 32) s += row[g * size + i];
        const float mean = warpSum(s) / size;
        float q = 0.f;
        for (int i = lane; i < size; i += 32) {
            const float d = row[g * size + i] - mean;
            q += d * d;
        }
        const float rstd = rsqrtf(warpSum(q) / size + eps);
        for (int i = lane; i < size; i += 32) {
            const int c = g * size + i;
            best = fminf(best, (row[c] - mean) * rstd * gamma[c] + beta[c]);
        }
    }
    best = warpMin(best);
    if (lane == 0) mins[warp] = best;
    __syncthreads();
    if (warp == 0) {
        best = lane < warps ? mins[lane] : INFINITY;
        best = warpMin(best);
        if (lane == 0) row_min[blockIdx.x] = best;
    }
}

__global__ void add_bias_broadcast(const float* row_min, const float* bias, float* out, int M, int N) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y;
    if (m < M) out[(size_t)c * M + m] = row_min[m] + bias[c];
}

void gemm_groupnorm_min_bias(const float* x, const float* w, const float* b, const float* gamma, const float* beta,
                             const float* bias, float* y, float* row_min, float* out, int M, int N, int K, int groups, float eps,
                             cudaStream_t stream = 0) {
    dim3 grid((N + TILE_N - 1) / TILE_N, (M + TILE_M - 1) / TILE_M);
    linear_tiled<<<grid, 256, 0, stream>>>(x, w, b, y, M, N, K);
    groupnorm_rowmin<<<M, 256, 0, stream>>>(y, gamma, beta, row_min, N, groups, eps);
    add_bias_broadcast<<<dim3((M + 255) / 256, N), 256, 0, stream>>>(row_min, bias, out, M, N);
}
