/* adds the two halves of a word */
__device__ __forceinline__ void dlrm_add2(float& lo, float& hi, unsigned word)
{
    float2 h = __half22float2(*reinterpret_cast<const __half2*>(&word));
    lo += h.x;
    hi += h.y;
}

/* One block per sample: 28 groups of 8 lanes gather a feature each into shared memory, then form a 4 x 4 tile each of the lower
   triangle of the products of all pairs. D is a multiple of 8, tables and dense lie on 16 bytes. */
__global__ void __launch_bounds__(224, @MINB@) dlrm_fused(const __half* tables, const int* ids, const __half* dense, float* out, int T, int L,
                                                     int V, int D, int pairs)
{
    extern __shared__ float4 dlrm_sm4[];
    const int F = T + 1;
    const int F4 = (F + 3) / 4 * 4;       /* rows F .. F4 - 1 are zeros */
    float* f = (float*)dlrm_sm4;          /* [F4][D] */
    float* so = f + F4 * D;               /* [pairs] */
    const size_t b = blockIdx.x;
    const int grp = threadIdx.x >> 3;
    const int j = threadIdx.x & 7;
    const int turns = L > 1 ? L : 1;      /* feature 0, the dense one, is a bag of one row */

    for (int f0 = 0; f0 < F4; f0 += 28) {
        const int fi = f0 + grp;
        const bool bag = fi >= 1 && fi < F;
        const int count = bag ? L : (fi == 0 ? 1 : 0);
        const float size = bag ? (float)L : 1.f;
        const int* list = bag ? ids + (b * T + fi - 1) * L : ids;
        const __half* rows = bag ? tables + (size_t)(fi - 1) * V * D : dense + b * D;
        for (int c0 = 0; c0 < D; c0 += 64) {
            const int c = c0 + j * 8;
            const bool col = c < D;
            float v[8];
            #pragma unroll
            for (int k = 0; k < 8; k++) v[k] = 0.f;
            for (int l0 = 0; l0 < turns; l0 += 8) {
                const int id = bag && l0 + j < L ? list[l0 + j] : 0;
                int r[8];
                #pragma unroll
                for (int l = 0; l < 8; l++) r[l] = __shfl_sync(0xffffffffu, id, l, 8);
                uint4 raw[8];
                #pragma unroll
                for (int l = 0; l < 8; l++)
                    raw[l] = col && l0 + l < count ? *(const uint4*)(rows + (long long)r[l] * D + c) : make_uint4(0u, 0u, 0u, 0u);
                #pragma unroll
                for (int l = 0; l < 8; l++) {      /* a sum that began with +0 is never -0: adding +0 leaves it as it is */
                    dlrm_add2(v[0], v[1], raw[l].x);
                    dlrm_add2(v[2], v[3], raw[l].y);
                    dlrm_add2(v[4], v[5], raw[l].z);
                    dlrm_add2(v[6], v[7], raw[l].w);
                }
            }
            #pragma unroll
            for (int k = 0; k < 8; k++) v[k] /= size;
            if (fi < F4 && col) {
                float4* to = (float4*)(f + fi * D + c);
                to[0] = make_float4(v[0], v[1], v[2], v[3]);
                to[1] = make_float4(v[4], v[5], v[6], v[7]);
            }
        }
    }
    __syncthreads();

    const int G = F4 / 4;
    const int tiles = G * (G + 1) / 2;
    for (int t0 = 0; t0 < tiles; t0 += 28) {
        const int tile = t0 + grp;
        const bool act = tile < tiles;
        int I = 0, J = act ? tile : 0;
        while (J > I) { J -= I + 1; I++; }     /* rows 4I .. 4I + 3 with rows 4J .. 4J + 3, J <= I */
        float acc[16];
        #pragma unroll
        for (int k = 0; k < 16; k++) acc[k] = 0.f;
        const float* fu = f + 4 * I * D;
        const float* fw = f + 4 * J * D;
        for (int d = j * 4; d < D; d += 32) {
            float4 w[4];
            #pragma unroll
            for (int s = 0; s < 4; s++) w[s] = *(const float4*)(fw + s * D + d);
            #pragma unroll
            for (int r = 0; r < 4; r++) {
                const float4 u = *(const float4*)(fu + r * D + d);
                #pragma unroll
                for (int s = 0; s < 4; s++) {
                    float a = acc[r * 4 + s];
                    a = fmaf(u.x, w[s].x, a);
                    a = fmaf(u.y, w[s].y, a);
                    a = fmaf(u.z, w[s].z, a);
                    a = fmaf(u.w, w[s].w, a);
                    acc[r * 4 + s] = a;
                }
            }
        }
        __syncwarp();
        /* sums over the 8 lanes: each step halves the entries that a lane holds */
        const bool hi4 = (j & 4) != 0, hi2 = (j & 2) != 0, hi1 = (j & 1) != 0;
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            const float send = hi4 ? acc[k] : acc[k + 8];
            const float keep = hi4 ? acc[k + 8] : acc[k];
            acc[k] = keep + __shfl_xor_sync(0xffffffffu, send, 4);
        }
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            const float send = hi2 ? acc[k] : acc[k + 4];
            const float keep = hi2 ? acc[k + 4] : acc[k];
            acc[k] = keep + __shfl_xor_sync(0xffffffffu, send, 2);
        }
        #pragma unroll
        for (int k = 0; k < 2; k++) {
            const float send = hi1 ? acc[k] : acc[k + 2];
            const float keep = hi1 ? acc[k + 2] : acc[k];
            acc[k] = keep + __shfl_xor_sync(0xffffffffu, send, 1);
        }
        #pragma unroll
        for (int k = 0; k < 2; k++) {
            const int e = j * 2 + k;           /* entry of the tile, row by row */
            const int i = 4 * I + (e >> 2);
            const int jj = 4 * J + (e & 3);
            if (act && i < F && jj < i) so[i * (i - 1) / 2 + jj] = acc[k];
        }
    }
    __syncthreads();

    for (int p = threadIdx.x; p < pairs; p += 224) out[b * pairs + p] = so[p];
}

void dlrm_interaction(const __half* tables, const int* ids, const __half* dense, float* out, float* feats, int B, int T, int L, int V,
                      int D, cudaStream_t stream)
{
    int pairs = T * (T + 1) / 2;
    if (B > 0 && T >= 1 && T <= 255 && D >= 8 && D <= 4096 && D % 8 == 0 && ((size_t)tables | (size_t)dense) % 16 == 0) {
        size_t shared = ((size_t)((T + 4) / 4 * 4) * D + pairs) * sizeof(float);
        if (shared <= 49152) {
            dlrm_fused<<<B, 224, shared, stream>>>(tables, ids, dense, out, T, L, V, D, pairs);
            return;
        }
    }
    bag_mean<<<dim3(T + 1, B), 32, 0, stream>>>(tables, ids, dense, feats, T, L, V, D);
    pair_dots<<<dim3((pairs + 63) / 64, B), 64, 0, stream>>>(feats, out, T + 1, D, pairs);
}