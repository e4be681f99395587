// ViT stem: patches -> linear, class token in front, + position embedding, LayerNorm.
#include <cuda_fp16.h>

extern __shared__ float patch_pixels[];

// Block (0, b) makes the class token of image b, block (1 + p, b) the token of patch p.
__global__ void make_tokens(const __half* __restrict__ image, const __half* __restrict__ w, const __half* __restrict__ bias,
                            const __half* __restrict__ cls, const __half* __restrict__ pos, float* __restrict__ tokens,
                            int C, int IH, int IW, int P, int E) {
    const int b = blockIdx.y;
    const int token = blockIdx.x;
    float* dst = tokens + ((size_t)b * gridDim.x + token) * E;
    const __half* pe = pos + (size_t)token * E;

    if (token == 0) {
        for (int e = threadIdx.x; e < E; e += blockDim.x) dst[e] = __half2float(cls[e]) + __half2float(pe[e]);
        return;
    }

    const int per_row = IW / P;
    const int y0 = (token - 1) / per_row * P;
    const int x0 = (token - 1) % per_row * P;
    const int len = C * P * P;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        const int c = i / (P * P), y = i / P % P, x = i % P;
        patch_pixels[i] = __half2float(image[(((size_t)b * C + c) * IH + y0 + y) * IW + x0 + x]);
    }
    __syncthreads();

    for (int e = threadIdx.x; e < E; e += blockDim.x) {
        const __half* we = w + (size_t)e * len;
        float acc = __half2float(bias[e]);
        for (int i = 0; i < len; ++i) acc += patch_pixels[i] * __half2float(we[i]);
        dst[e] = acc + __half2float(pe[e]);
    }
}

__global__ void token_layernorm(const float* __restrict__ tokens, const __half* __restrict__ gamma,
                                const __half* __restrict__ beta, __half* __restrict__ out, int count, int E, float eps) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    const int lane = threadIdx.x & 31;
    if (t >= count) return;
    const float* src = tokens + (size_t)t * E;

    float mean = 0.f;
    for (int e = lane; e < E; e += 32) mean += src[e];
    for (int o = 16; o > 0; o >>= 1) mean += __shfl_xor_sync(0xffffffffu, mean, o);
    mean /= E;

    float var = 0.f;
    for (int e = lane; e < E; e += 32) {
        const float d = src[e] - mean;
        var += d * d;
    }
    for (int o = 16; o > 0; o >>= 1) var += __shfl_xor_sync(0xffffffffu, var, o);
    const float rstd = rsqrtf(var / E + eps);

    for (int e = lane; e < E; e += 32)
        out[(size_t)t * E + e] = __float2half((src[e] - mean) * rstd * __half2float(gamma[e]) + __half2float(beta[e]));
}

void vit_patch_embed(const __half* image, const __half* w, const __half* bias, const __half* cls, const __half* pos,
                     const __half* gamma, const __half* beta, float* tokens, __half* out, int B, int C, int IH, int IW,
                     int P, int E, float eps) {
    const int n_tokens = 1 + (IH / P) * (IW / P);
    const size_t shmem = sizeof(float) * C * P * P;
    make_tokens<<<dim3(n_tokens, B), 256, shmem>>>(image, w, bias, cls, pos, tokens, C, IH, IW, P, E);
    const int count = B * n_tokens;
    token_layernorm<<<(count * 32 + 127) / 128, 128>>>(tokens, gamma, beta, out, count, E, eps);
}
