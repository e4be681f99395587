// Router of a mixture of experts: the k best logits of each token, softmax over those k, and how
// many tokens every expert gets. One warp per token, experts dealt out over its lanes.
#include <cuda_runtime.h>
#include <math_constants.h>

#include "mb/warp.cuh"

template <int PER_LANE, int WARPS>
__global__ void moe_gate_kernel(const float* __restrict__ logits, float* __restrict__ topk_weight,
                                int* __restrict__ topk_id, int* __restrict__ expert_load,
                                int tokens, int experts, int k)
{
    __shared__ int load[PER_LANE * 32];
    for (int e = threadIdx.x; e < experts; e += WARPS * 32) load[e] = 0;
    __syncthreads();

    const int lane = threadIdx.x & 31;
    const int token = blockIdx.x * WARPS + (threadIdx.x >> 5);

    if (token < tokens) {
        float v[PER_LANE];
#pragma unroll
        for (int i = 0; i < PER_LANE; i++) {
            int e = i * 32 + lane;
            v[i] = e < experts ? logits[(size_t)token * experts + e] : -CUDART_INF_F;
            if (isnan(v[i])) v[i] = -CUDART_INF_F;
        }

        unsigned taken = 0;
        float first = 0.f, denom = 0.f, mine = 0.f;
        for (int j = 0; j < k; j++) {
            float best = -CUDART_INF_F;
            int who = 0x7fffffff;
#pragma unroll
            for (int i = 0; i < PER_LANE; i++) {
                int e = i * 32 + lane;
                if (!(taken >> i & 1) && e < experts && (v[i] > best || who == 0x7fffffff)) {
                    best = v[i];
                    who = e;
                }
            }
#pragma unroll
            for (int m = 16; m; m >>= 1) {
                float ob = __shfl_xor_sync(0xffffffffu, best, m);
                int ow = __shfl_xor_sync(0xffffffffu, who, m);
                if (ob > best || (ob == best && ow < who)) { best = ob; who = ow; }
            }
            if (who % 32 == lane) taken |= 1u << (who / 32);
            if (j == 0) first = best;
            float w = expf(best - first);
            denom += w;
            if (lane == j) mine = w;
            if (lane == 0) {
                topk_id[(size_t)token * k + j] = who;
                atomicAdd(&load[who], 1);
            }
        }
        if (lane < k) topk_weight[(size_t)token * k + lane] = mine / denom;
    }

    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += WARPS * 32)
        if (load[e]) atomicAdd(&expert_load[e], load[e]);
}

// k <= 8, k <= experts <= 256
void moe_gate(const float* logits, float* topk_weight, int* topk_id, int* expert_load,
              int tokens, int experts, int k, cudaStream_t stream)
{
    constexpr int WARPS = 8;
    int blocks = (tokens + WARPS - 1) / WARPS;
    cudaMemsetAsync(expert_load, 0, sizeof(int) * experts, stream);
    if (experts <= 64)
        moe_gate_kernel<2, WARPS><<<blocks, WARPS * 32, 0, stream>>>(logits, topk_weight, topk_id, expert_load, tokens, experts, k);
    else if (experts <= 128)
        moe_gate_kernel<4, WARPS><<<blocks, WARPS * 32, 0, stream>>>(logits, topk_weight, topk_id, expert_load, tokens, experts, k);
    else
        moe_gate_kernel<8, WARPS><<<blocks, WARPS * 32, 0, stream>>>(logits, topk_weight, topk_id, expert_load, tokens, experts, k);
}
