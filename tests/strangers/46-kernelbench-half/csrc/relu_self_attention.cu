// minGPT-style causal self attention with ReLU in the place of softmax (KernelBench level3/50).
//
//   qkv  [B, T, 3, nh, 64]   output of c_attn, packed
//   out  [B, T, nh * 64]
//   att = relu(q k^T / sqrt(64)), masked to s <= t;  out = att v
//
// One thread per query. q and the accumulator live in registers.
#include "common.cuh"

namespace minigpt {

template <int HD>
__global__ void relu_attn_kernel(const __half* __restrict__ qkv, __half* __restrict__ out,
                                 int T, int nh, float scale) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int h = blockIdx.y;
    int b = blockIdx.z;
    if (t >= T) return;

    const size_t tok = (size_t)3 * nh * HD;                  // stride between tokens
    const __half* base = qkv + (size_t)b * T * tok;
    const __half* q = base + t * tok + h * HD;
    const __half* k = base + (nh + h) * HD;
    const __half* v = base + (2 * nh + h) * HD;

    float qr[HD], acc[HD];
#pragma unroll
    for (int d = 0; d < HD; ++d) {
        qr[d] = to_f(q[d]) * scale;
        acc[d] = 0.f;
    }

    for (int s = 0; s <= t; ++s) {
        float dot = 0.f;
#pragma unroll
        for (int d = 0; d < HD; ++d) dot += qr[d] * to_f(k[s * tok + d]);
        float p = fmaxf(dot, 0.f);
#pragma unroll
        for (int d = 0; d < HD; ++d) acc[d] += p * to_f(v[s * tok + d]);
    }

    __half* o = out + ((size_t)b * T + t) * nh * HD + h * HD;
#pragma unroll
    for (int d = 0; d < HD; ++d) o[d] = __float2half(acc[d]);
}

void relu_self_attention(const __half* qkv, __half* out, int B, int T, int nh, cudaStream_t stream) {
    dim3 grid(CEIL_DIV(T, 128), nh, B);
    relu_attn_kernel<64><<<grid, 128, 0, stream>>>(qkv, out, T, nh, 0.125f);
    CHECK_LAUNCH();
}

}  // namespace minigpt
