#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>

/*
 * Cross attention of the decoder, bf16, with an additive bias and encoder outputs of different lengths.
 *
 *   q    [B, Tq, H, D]
 *   kv   [B, Tk, 2, H, D]      fused k and v projection of the encoder states
 *   bias [H, Tq, Tk]
 *   lens [B]                   keys from lens[b] on are padding (1 <= lens[b] <= Tk)
 *   s    [B, H, Tq, Tk]        f32 workspace
 *   out  [B, Tq, H, D]
 */

typedef __nv_bfloat16 bf;

__device__ __forceinline__ float f(bf v) { return __bfloat162float(v); }

__global__ void xattn_scores(const bf *q, const bf *kv, const bf *bias, const int *lens, float *s,
                             int Tq, int Tk, int H, int D, float scale)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int bh = blockIdx.z, b = bh / H, h = bh % H;
    if (i >= Tq || j >= Tk) return;

    float v = -INFINITY;
    if (j < lens[b]) {
        const bf *qi = q + (((size_t)b * Tq + i) * H + h) * D;
        const bf *kj = kv + (((size_t)b * Tk + j) * 2 * H + h) * D;
        v = 0.f;
        for (int d = 0; d < D; ++d) v += f(qi[d]) * f(kj[d]);
        v = v * scale + f(bias[((size_t)h * Tq + i) * Tk + j]);
    }
    s[((size_t)bh * Tq + i) * Tk + j] = v;
}

/* in place, one warp per row */
__global__ void xattn_softmax(float *s, int rows, int Tk)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    s += (size_t)row * Tk;

    float m = -INFINITY;
    for (int j = lane; j < Tk; j += 32) m = fmaxf(m, s[j]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    float sum = 0.f;
    for (int j = lane; j < Tk; j += 32) {
        float e = expf(s[j] - m);
        s[j] = e;
        sum += e;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, o);
    for (int j = lane; j < Tk; j += 32) s[j] /= sum;
}

__global__ void xattn_pv(const float *s, const bf *kv, const int *lens, bf *out, int Tq, int Tk, int H, int D)
{
    int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
    const float *p = s + (((size_t)b * H + h) * Tq + i) * Tk;
    const bf *v = kv + (((size_t)b * Tk * 2 + 1) * H + h) * D;
    const int n = lens[b];
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float acc = 0.f;
        for (int j = 0; j < n; ++j) acc += p[j] * f(v[(size_t)j * 2 * H * D + d]);
        out[(((size_t)b * Tq + i) * H + h) * D + d] = __float2bfloat16(acc);
    }
}

extern "C" int cross_attention(const bf *q, const bf *kv, const bf *bias, const int *lens, float *s, bf *out,
                               int B, int Tq, int Tk, int H, int D, float scale, cudaStream_t stream)
{
    int rows = B * H * Tq;
    dim3 block(32, 4);
    dim3 grid((Tk + 31) / 32, (Tq + 3) / 4, B * H);
    xattn_scores<<<grid, block, 0, stream>>>(q, kv, bias, lens, s, Tq, Tk, H, D, scale);
    xattn_softmax<<<(rows + 3) / 4, 128, 0, stream>>>(s, rows, Tk);
    xattn_pv<<<dim3(Tq, H, B), 64, 0, stream>>>(s, kv, lens, out, Tq, Tk, H, D);
    return cudaGetLastError() != cudaSuccess;
}
