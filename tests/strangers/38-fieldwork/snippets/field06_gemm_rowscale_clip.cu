// y[m, n] = clip(row_scale[m] * dot(x[m, :], w[n, :]) + bias[n], lo, hi)
//
// The row scale is what the per-token quantizer took out of x. bf16 storage, fp32 accumulation.
// 64 x 64 tile, 256 threads, 4 x 4 per thread.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define TILE_M 64
#define TILE_N 64
#define TILE_K 16
#define CDIV(a, b) (((a) + (b) - 1) / (b))

__global__ __launch_bounds__(256) void gemm_nt_rowscale_clip(
    const __nv_bfloat16* __restrict__ x,
    const __nv_bfloat16* __restrict__ w,
    const float* __restrict__ row_scale,
    const __nv_bfloat16* __restrict__ bias,
    __nv_bfloat16* __restrict__ y,
    const int M,
    const int N,
    const int K,
    const float lo,
    const float hi)
{
    __shared__ float xs[TILE_K][TILE_M + 4];
    __shared__ float ws[TILE_K][TILE_N + 4];

    const int tid = threadIdx.x;
    const int tx = tid % 16;
    const int ty = tid / 16;
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;

    float acc[4][4] = {};

    for (int k0 = 0; k0 < K; k0 += TILE_K)
    {
        // 1024 elements of each operand, 4 per thread
        for (int i = tid; i < TILE_M * TILE_K; i += 256)
        {
            const int r = i / TILE_K;
            const int c = i % TILE_K;
            float xv = 0.0f, wv = 0.0f;
            if (k0 + c < K)
            {
                if (m0 + r < M) xv = __bfloat162float(x[(size_t)(m0 + r) * K + k0 + c]);
                if (n0 + r < N) wv = __bfloat162float(w[(size_t)(n0 + r) * K + k0 + c]);
            }
            xs[c][r] = xv;
            ws[c][r] = wv;
        }
        __syncthreads();

        for (int kk = 0; kk < TILE_K; ++kk)
        {
            float a[4], b[4];
            for (int i = 0; i < 4; ++i) a[i] = xs[kk][ty * 4 + i];
            for (int j = 0; j < 4; ++j) b[j] = ws[kk][tx * 4 + j];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < 4; ++i)
    {
        const int m = m0 + ty * 4 + i;
        if (m >= M) break;
        const float s = row_scale[m];
        for (int j = 0; j < 4; ++j)
        {
            const int n = n0 + tx * 4 + j;
            if (n >= N) break;
            const float v = s * acc[i][j] + __bfloat162float(bias[n]);
            y[(size_t)m * N + n] = __float2bfloat16(fminf(fmaxf(v, lo), hi));
        }
    }
}

extern "C" void gemm_rowscale_clip(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* row_scale,
                                   const __nv_bfloat16* bias, __nv_bfloat16* y, int M, int N, int K, float lo,
                                   float hi, cudaStream_t stream)
{
    const dim3 grid(CDIV(N, TILE_N), CDIV(M, TILE_M));
    gemm_nt_rowscale_clip<<<grid, 256, 0, stream>>>(x, w, row_scale, bias, y, M, N, K, lo, hi);
}
