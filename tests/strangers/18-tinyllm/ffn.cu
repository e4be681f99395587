#include "common.cuh"

/* gu is [token][gate or up][ff] */
__global__ void k_swiglu(__nv_bfloat16* out, const __nv_bfloat16* gu, int ff) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t t = blockIdx.y;
    if (i >= ff) return;
    const float g = __bfloat162float(gu[2 * t * ff + i]);
    const float u = __bfloat162float(gu[(2 * t + 1) * ff + i]);
    out[t * ff + i] = __float2bfloat16(g / (1.f + expf(-g)) * u);
}

extern "C" void tl_swiglu(__nv_bfloat16* out, const __nv_bfloat16* gu, int n_tok, int ff, cudaStream_t st) {
    k_swiglu<<<dim3((ff + 127) / 128, n_tok), 128, 0, st>>>(out, gu, ff);
}

/* Mixture of experts: the k most likely of n_exp <= 64 experts, their softmax weights normalized to a sum of 1.
   Of equal logits the one with the lower index wins. One thread for each token. */
__global__ void k_moe_topk(float* w, int32_t* ids, const float* logits, int n_tok, int n_exp, int k) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n_tok) return;
    const float* l = logits + (size_t)t * n_exp;
    float mx = l[0];
    for (int e = 1; e < n_exp; e++) mx = fmaxf(mx, l[e]);
    uint64_t used = 0;
    float sum = 0.f;
    for (int j = 0; j < k; j++) {
        int best = -1;
        for (int e = 0; e < n_exp; e++)
            if (!(used >> e & 1) && (best < 0 || l[e] > l[best])) best = e;
        used |= 1ull << best;
        const float p = expf(l[best] - mx);
        w[(size_t)t * k + j] = p;
        ids[(size_t)t * k + j] = best;
        sum += p;
    }
    for (int j = 0; j < k; j++) w[(size_t)t * k + j] /= sum;
}

extern "C" void tl_moe_topk(float* w, int32_t* ids, const float* logits, int n_tok, int n_exp, int k, cudaStream_t st) {
    k_moe_topk<<<(n_tok + 63) / 64, 64, 0, st>>>(w, ids, logits, n_tok, n_exp, k);
}
