// Newton-Schulz steps of the Muon optimizer on an M x N gradient, M <= N, bf16 in memory:
//   X = G / |G|;   steps times:  A = X X^T,  B = b A + c A A,  X = a X + B X
// A is symmetric: only tiles on and above the diagonal are computed, and mirrored.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define BT 32

typedef __nv_bfloat16 bf16;

__global__ void sum_of_squares(const bf16* __restrict__ g, float* __restrict__ out, size_t n)
{
    float s = 0.f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const float v = __bfloat162float(g[i]);
        s += v * v;
    }
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, s);
}

__global__ void normalize(const bf16* __restrict__ g, const float* __restrict__ sq, bf16* __restrict__ x, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = __float2bfloat16(__bfloat162float(g[i]) / (sqrtf(*sq) + 1e-7f));
}

// A = X X^T
__global__ void syrk(const bf16* __restrict__ X, bf16* __restrict__ A, int M, int N)
{
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float sr[BT][17];
    __shared__ float sc[BT][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int r0 = blockIdx.y * BT, c0 = blockIdx.x * BT;
    float acc[2][2] = {};
    for (int k0 = 0; k0 < N; k0 += 16) {
        for (int i = ty; i < BT; i += 16) {
            const int k = k0 + tx;
            sr[i][tx] = (r0 + i < M && k < N) ? __bfloat162float(X[(size_t)(r0 + i) * N + k]) : 0.f;
            sc[i][tx] = (c0 + i < M && k < N) ? __bfloat162float(X[(size_t)(c0 + i) * N + k]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j) acc[i][j] += sr[ty + 16 * i][k] * sc[tx + 16 * j][k];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const int r = r0 + ty + 16 * i, c = c0 + tx + 16 * j;
            if (r < M && c < M && c >= r) {
                const bf16 v = __float2bfloat16(acc[i][j]);
                A[(size_t)r * M + c] = v;
                A[(size_t)c * M + r] = v;
            }
        }
}

// Y = alpha * D + beta * P Q,   P: M x K, Q: K x N, D and Y: M x N
__global__ void gemm_axpby(const bf16* __restrict__ P, const bf16* __restrict__ Q, const bf16* __restrict__ D,
                           bf16* __restrict__ Y, int M, int N, int K, float alpha, float beta)
{
    __shared__ float sp[BT][17];
    __shared__ float sq[16][BT];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int r0 = blockIdx.y * BT, c0 = blockIdx.x * BT;
    float acc[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = ty; i < BT; i += 16)
            sp[i][tx] = (r0 + i < M && k0 + tx < K) ? __bfloat162float(P[(size_t)(r0 + i) * K + k0 + tx]) : 0.f;
        for (int j = tx; j < BT; j += 16)
            sq[ty][j] = (k0 + ty < K && c0 + j < N) ? __bfloat162float(Q[(size_t)(k0 + ty) * N + c0 + j]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j) acc[i][j] += sp[ty + 16 * i][k] * sq[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const int r = r0 + ty + 16 * i, c = c0 + tx + 16 * j;
            if (r < M && c < N) {
                const size_t o = (size_t)r * N + c;
                Y[o] = __float2bfloat16(alpha * __bfloat162float(D[o]) + beta * acc[i][j]);
            }
        }
}

// x_ws: M x N, a_ws and b_ws: M x M, norm_ws: one float
void newton_schulz_bf16(const bf16* g, bf16* out, bf16* x_ws, bf16* a_ws, bf16* b_ws, float* norm_ws, int M, int N,
                        int steps, cudaStream_t stream)
{
    if (M <= 0 || N < M || steps < 0) return;
    const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    const size_t n = (size_t)M * N;
    cudaMemsetAsync(norm_ws, 0, sizeof(float), stream);
    const size_t want = (n + 255) / 256;
    sum_of_squares<<<(unsigned)(want < 1024 ? want : 1024), 256, 0, stream>>>(g, norm_ws, n);
    bf16* x = steps % 2 == 0 ? out : x_ws;
    bf16* y = steps % 2 == 0 ? x_ws : out;
    normalize<<<(unsigned)want, 256, 0, stream>>>(g, norm_ws, x, n);
    const dim3 block(16, 16);
    const int mt = (M + BT - 1) / BT, nt = (N + BT - 1) / BT;
    for (int s = 0; s < steps; ++s) {
        syrk<<<dim3(mt, mt), block, 0, stream>>>(x, a_ws, M, N);
        gemm_axpby<<<dim3(mt, mt), block, 0, stream>>>(a_ws, a_ws, a_ws, b_ws, M, M, M, b, c);
        gemm_axpby<<<dim3(nt, mt), block, 0, stream>>>(b_ws, x, x, y, M, N, M, a, 1.0f);
        bf16* t = x;
        x = y;
        y = t;
    }
}
