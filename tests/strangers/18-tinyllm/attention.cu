#include "common.cuh"

/* One new token of each sequence attends to its cache. nq / nkv query heads share a head of the cache.
   Caches are [batch][seq][nkv][d]. One block for each query head, with d threads, d a multiple of 32. */
__global__ void k_attn_decode(__half* __restrict__ out, const __half* __restrict__ q, const __half* __restrict__ kc,
                              const __half* __restrict__ vc, const int32_t* __restrict__ lens, int max_seq, int nq,
                              int nkv, int d, float scale) {
    extern __shared__ float s_score[];
    __shared__ float s_red[32];
    const int h = blockIdx.x, b = blockIdx.y;
    const int hk = h / (nq / nkv);
    const int n = lens[b];
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
    const __half* qv = q + ((size_t)b * nq + h) * d;

    /* scores: a warp for each position */
    float mx = -1e30f;
    for (int t = wid; t < n; t += nw) {
        const __half* kv = kc + (((size_t)b * max_seq + t) * nkv + hk) * d;
        float acc = 0.f;
        for (int i = lane; i < d; i += 32) acc += __half2float(qv[i]) * __half2float(kv[i]);
        acc = warp_sum(acc) * scale;
        if (lane == 0) s_score[t] = acc;
        mx = fmaxf(mx, acc);
    }
    if (lane == 0) s_red[wid] = mx;
    __syncthreads();
    for (int i = 0; i < nw; i++) mx = fmaxf(mx, s_red[i]);
    __syncthreads();

    float sum = 0.f;
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        const float e = expf(s_score[t] - mx);
        s_score[t] = e;
        sum += e;
    }
    sum = warp_sum(sum);
    if (lane == 0) s_red[wid] = sum;
    __syncthreads();
    sum = 0.f;
    for (int i = 0; i < nw; i++) sum += s_red[i];

    /* values: a thread for each component */
    float acc = 0.f;
    for (int t = 0; t < n; t++)
        acc += s_score[t] * __half2float(vc[(((size_t)b * max_seq + t) * nkv + hk) * d + threadIdx.x]);
    out[((size_t)b * nq + h) * d + threadIdx.x] = __float2half(acc / sum);
}

extern "C" void tl_attn_decode(__half* out, const __half* q, const __half* kc, const __half* vc, const int32_t* lens,
                               int batch, int max_seq, int nq, int nkv, int d, float scale, cudaStream_t st) {
    k_attn_decode<<<dim3(nq, batch), d, max_seq * sizeof(float), st>>>(out, q, kc, vc, lens, max_seq, nq, nkv, d, scale);
}
