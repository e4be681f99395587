// out = x + silu(rmsnorm(x @ w^T) * g)         x, out: [M, D] bf16   w: [D, D] bf16   g: [D] bf16
//
// product on the tensor cores through wmma, 4 warps per block, each warp one 16x16 tile of 32x32;
// everything goes through shared memory with zeros behind the edges, so M and D are arbitrary.
#include <mma.h>
#include <cuda_bf16.h>

using namespace nvcuda;

#define BT 32                 // block tile
#define BK 32
#define PITCH (BK + 8)

__global__ void wmma_xwT(const __nv_bfloat16 *x, const __nv_bfloat16 *w, float *y, int M, int D)
{
    __shared__ __align__(32) __nv_bfloat16 xs[BT * PITCH];
    __shared__ __align__(32) __nv_bfloat16 ws[BT * PITCH];
    __shared__ __align__(32) float ys[4][16 * 16];

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int wr = warp / 2 * 16, wc = warp % 2 * 16;
    const int m0 = blockIdx.y * BT, n0 = blockIdx.x * BT;
    const __nv_bfloat16 zero = __float2bfloat16(0.0f);

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);

    for (int k0 = 0; k0 < D; k0 += BK) {
        for (int i = threadIdx.x; i < BT * BK; i += 128) {
            int r = i / BK, c = i % BK;
            bool k_ok = k0 + c < D;
            xs[r * PITCH + c] = k_ok && m0 + r < M ? x[(size_t)(m0 + r) * D + k0 + c] : zero;
            ws[r * PITCH + c] = k_ok && n0 + r < D ? w[(size_t)(n0 + r) * D + k0 + c] : zero;
        }
        __syncthreads();

        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
            wmma::load_matrix_sync(a, xs + wr * PITCH + k, PITCH);
            wmma::load_matrix_sync(b, ws + wc * PITCH + k, PITCH);
            wmma::mma_sync(acc, a, b, acc);
        }
        __syncthreads();
    }

    wmma::store_matrix_sync(ys[warp], acc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) {
        int m = m0 + wr + i / 16, n = n0 + wc + i % 16;
        if (m < M && n < D)
            y[(size_t)m * D + n] = ys[warp][i];
    }
}

__global__ void rms_silu_residual(const __nv_bfloat16 *x, const float *y, const __nv_bfloat16 *g, __nv_bfloat16 *out, int D, float eps)
{
    __shared__ float part[8];
    const float *yr = y + (size_t)blockIdx.x * D;

    float ss = 0.0f;
    for (int d = threadIdx.x; d < D; d += 256)
        ss += yr[d] * yr[d];
    for (int o = 16; o; o >>= 1)
        ss += __shfl_xor_sync(~0u, ss, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = ss;
    __syncthreads();
    ss = 0.0f;
    for (int i = 0; i < 8; i++)
        ss += part[i];
    const float r = rsqrtf(ss / D + eps);

    for (int d = threadIdx.x; d < D; d += 256) {
        float v = yr[d] * r * __bfloat162float(g[d]);
        v = v / (1.0f + expf(-v));
        size_t i = (size_t)blockIdx.x * D + d;
        out[i] = __float2bfloat16(__bfloat162float(x[i]) + v);
    }
}

extern "C" void linear_rms_silu_residual(const __nv_bfloat16 *x, const __nv_bfloat16 *w, const __nv_bfloat16 *g, float *y,
                                         __nv_bfloat16 *out, int M, int D, float eps)
{
    dim3 grid((D + BT - 1) / BT, (M + BT - 1) / BT);
    wmma_xwT<<<grid, 128>>>(x, w, y, M, D);
    rms_silu_residual<<<M, 256>>>(x, y, g, out, D, eps);
}
