// Causal self attention of minGPT, after the c_attn projection: qkv is (B, T, 3C), y is (B, T, C).
// Online softmax. A block handles 16 queries of one head, one warp each, and
// walks over the keys in tiles of 32.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int QUERIES = 16;
constexpr int KEYS = 32;

template <int HD>
__global__ __launch_bounds__(QUERIES * 32) void causal_attention(const __half* __restrict__ qkv, __half* __restrict__ y, int T,
                                                                 int C, float scale) {
    __shared__ float qs[QUERIES][HD];
    __shared__ float ks[KEYS][HD + 1];
    __shared__ float vs[KEYS][HD];
    constexpr int PER_LANE = HD / 32;

    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int head = blockIdx.y;
    const int b = blockIdx.z;
    const int q0 = blockIdx.x * QUERIES;
    const int q = q0 + warp;
    const __half* base = qkv + (size_t)b * T * 3 * C + head * HD;

    for (int d = lane; d < HD; d += 32) qs[warp][d] = q < T ? __half2float(base[(size_t)q * 3 * C + d]) * scale : 0.f;

    float m = -INFINITY;
    float l = 0.f;
    float o[PER_LANE];
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i) o[i] = 0.f;

    const int last = min(q0 + QUERIES, T);  // keys beyond are masked for the whole block
    for (int k0 = 0; k0 < last; k0 += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * HD; i += blockDim.x) {
            const int r = i / HD, d = i % HD;
            const bool ok = k0 + r < T;
            const __half* row = base + (size_t)(k0 + r) * 3 * C;
            ks[r][d] = ok ? __half2float(row[C + d]) : 0.f;
            vs[r][d] = ok ? __half2float(row[2 * C + d]) : 0.f;
        }
        __syncthreads();

        float s = -INFINITY;
        if (k0 + lane <= q && q < T) {
            s = 0.f;
#pragma unroll 8
            for (int d = 0; d < HD; ++d) s += qs[warp][d] * ks[lane][d];
        }
        float mt = s;
        for (int w = 16; w; w /= 2) mt = fmaxf(mt, __shfl_xor_sync(0xffffffffu, mt, w));
        if (mt == -INFINITY) continue;  // nothing visible in this tile, same for all lanes

        const float m_new = fmaxf(m, mt);
        const float corr = __expf(m - m_new);
        const float p = __expf(s - m_new);
        float ps = p;
        for (int w = 16; w; w /= 2) ps += __shfl_xor_sync(0xffffffffu, ps, w);
        l = l * corr + ps;
        m = m_new;

#pragma unroll
        for (int i = 0; i < PER_LANE; ++i) o[i] *= corr;
        for (int k = 0; k < KEYS; ++k) {
            const float pk = __shfl_sync(0xffffffffu, p, k);
#pragma unroll
            for (int i = 0; i < PER_LANE; ++i) o[i] += pk * vs[k][lane + 32 * i];
        }
    }

    if (q < T) {
#pragma unroll
        for (int i = 0; i < PER_LANE; ++i)
            y[((size_t)b * T + q) * C + head * HD + lane + 32 * i] = __float2half(o[i] / l);
    }
}

void mingpt_causal_attention(const __half* qkv, __half* y, int B, int T, int n_head, int head_dim, float scale,
                             cudaStream_t stream = 0) {
    const int C = n_head * head_dim;
    dim3 grid((T + QUERIES - 1) / QUERIES, n_head, B);
    if (head_dim == 64)
        causal_attention<64><<<grid, QUERIES * 32, 0, stream>>>(qkv, y, T, C, scale);
    else if (head_dim == 32)
        causal_attention<32><<<grid, QUERIES * 32, 0, stream>>>(qkv, y, T, C, scale);
}
