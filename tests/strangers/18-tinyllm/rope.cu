#include "common.cuh"

/* GPT-NeoX style: element i is rotated with element i + d/2. q and k in one launch: heads [0, nq) are q's. */
__global__ void k_rope_neox(__half* q, __half* k, const int32_t* pos, int nq, int nkv, int d, float theta) {
    const int t = blockIdx.x;
    const int h = blockIdx.y;
    const int half_d = d / 2;
    __half* v = h < nq ? q + ((size_t)t * nq + h) * d : k + ((size_t)t * nkv + (h - nq)) * d;
    for (int i = threadIdx.x; i < half_d; i += blockDim.x) {
        const float freq = powf(theta, -2.0f * i / d);
        const float a = pos[t] * freq;
        const float c = cosf(a), s = sinf(a);
        const float x0 = __half2float(v[i]);
        const float x1 = __half2float(v[i + half_d]);
        v[i] = __float2half(x0 * c - x1 * s);
        v[i + half_d] = __float2half(x0 * s + x1 * c);
    }
}

extern "C" void tl_rope_neox(__half* q, __half* k, const int32_t* pos, int n_tok, int nq, int nkv, int d, float theta,
                             cudaStream_t st) {
    dim3 grid(n_tok, nq + nkv);
    k_rope_neox<<<grid, 64, 0, st>>>(q, k, pos, nq, nkv, d, theta);
}

/* Meta style: elements 2p and 2p+1 are rotated. k of the newest token of each sequence is rotated with a table of cosines
   and sines and appended, with v, to the caches, which are [batch][head][seq][pair][2]. */
__global__ void k_rope_append(__half* kc, __half* vc, const float* __restrict__ k, const float* __restrict__ v,
                              const float* __restrict__ cos_t, const float* __restrict__ sin_t,
                              const int32_t* __restrict__ pos, int heads, int max_seq, int pairs, int total) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= total) return;
    const int p = id % pairs;
    const int h = (id / pairs) % heads;
    const int b = id / (pairs * heads);
    const int t = pos[b];
    const float c = cos_t[t * pairs + p], s = sin_t[t * pairs + p];
    const float x = k[2 * id], y = k[2 * id + 1];
    const size_t dst = (((size_t)b * heads + h) * max_seq + t) * pairs * 2 + 2 * p;
    kc[dst] = __float2half(x * c - y * s);
    kc[dst + 1] = __float2half(x * s + y * c);
    vc[dst] = __float2half(v[2 * id]);
    vc[dst + 1] = __float2half(v[2 * id + 1]);
}

extern "C" void tl_rope_append(__half* kc, __half* vc, const float* k, const float* v, const float* cos_t,
                               const float* sin_t, const int32_t* pos, int batch, int heads, int max_seq, int pairs,
                               cudaStream_t st) {
    const int total = batch * heads * pairs;
    k_rope_append<<<(total + 255) / 256, 256, 0, st>>>(kc, vc, k, v, cos_t, sin_t, pos, heads, max_seq, pairs, total);
}
