// night 8: ViT patch embedding
//   img: [B, C, G * P, G * P]   w: [E, C, P, P]   cls: [E]   pos: [G * G + 1, E]   tokens: [B, G * G + 1, E]
// tokens[b][0] = cls + pos[0];  tokens[b][1 + p] = w * patch + bias + pos[1 + p]
#include <cuda_fp16.h>

__global__ void embed_patch(const half *img, const half *w, const half *bias, const half *cls, const half *pos,
                            half *tokens, int C, int G, int P, int E)
{
    extern __shared__ float patch[];   // C * P * P

    const int token = blockIdx.x;      // 0: the class token
    const int b = blockIdx.y;
    const int L = G * G + 1;
    half *dst = tokens + ((size_t)b * L + token) * E;

    if (token == 0) {
        for (int e = threadIdx.x; e < E; e += blockDim.x)
            dst[e] = __float2half(__half2float(cls[e]) + __half2float(pos[e]));
        return;
    }

    const int side = G * P;
    const int py = (token - 1) / G * P, px = (token - 1) % G * P;
    const int n = C * P * P;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int c = i / (P * P), y = i / P % P, x = i % P;
        patch[i] = __half2float(img[(((size_t)b * C + c) * side + py + y) * side + px + x]);
    }
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int e = warp; e < E; e += warps) {
        const half *row = w + (size_t)e * n;
        float sum = 0.f;
        for (int i = lane; i < n; i += 32)
            sum += __half2float(row[i]) * patch[i];
        for (int o = 16; o >= 1; o /= 2)
            sum += __shfl_down_sync(~0u, sum, o);
        if (lane == 0)
            dst[e] = __float2half(sum + __half2float(bias[e]) + __half2float(pos[(size_t)token * E + e]));
    }
}

void patch_embed(const half *img, const half *w, const half *bias, const half *cls, const half *pos, half *tokens, int B,
                 int C, int G, int P, int E)
{
    embed_patch<<<dim3(G * G + 1, B), 256, C * P * P * sizeof(float)>>>(img, w, bias, cls, pos, tokens, C, G, P, E);
}
