// Token mixing half of an MLP-Mixer block in bf16:
//   y = LayerNorm(x);  out = x + W2 * gelu(W1 * y + b1) + b2     (products over the token axis)
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;

struct GeluTanh {
    __device__ float operator()(float v, size_t) const {
        return 0.5f * v * (1.f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
};

struct AddResidual {
    const bf16* x;
    __device__ float operator()(float v, size_t at) const { return v + __bfloat162float(x[at]); }
};

__global__ void layernorm_tokens(const bf16* __restrict__ x, const bf16* __restrict__ g, const bf16* __restrict__ b,
                                 bf16* __restrict__ y, int rows, int C, float eps) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const bf16* xr = x + (size_t)row * C;
    float s = 0.f, q = 0.f;
    for (int c = lane; c < C; c += 32) {
        const float v = __bfloat162float(xr[c]);
        s += v;
        q += v * v;
    }
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor_sync(~0u, s, d);
        q += __shfl_xor_sync(~0u, q, d);
    }
    const float mean = s / C;
    const float rstd = rsqrtf(fmaxf(q / C - mean * mean, 0.f) + eps);
    for (int c = lane; c < C; c += 32)
        y[(size_t)row * C + c] =
            __float2bfloat16((__bfloat162float(xr[c]) - mean) * rstd * __bfloat162float(g[c]) + __bfloat162float(b[c]));
}

// out[b, r, c] = epilogue(sum_k w[r, k] * in[b, k, c] + bias[r])
template <class Epilogue>
__global__ void mix(const bf16* __restrict__ w, const bf16* __restrict__ bias, const bf16* __restrict__ in, bf16* __restrict__ out,
                    int R, int K, int C, Epilogue epilogue) {
    constexpr int T = 32;
    __shared__ float wt[T][T + 1];
    __shared__ float it[T][T + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int r0 = blockIdx.y * T, c = blockIdx.x * T + tx;
    const bf16* src = in + (size_t)blockIdx.z * K * C;

    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int y = ty; y < T; y += 8) {
            wt[y][tx] = (r0 + y < R && k0 + tx < K) ? __bfloat162float(w[(size_t)(r0 + y) * K + k0 + tx]) : 0.f;
            it[y][tx] = (k0 + y < K && c < C) ? __bfloat162float(src[(size_t)(k0 + y) * C + c]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) {
            const float v = it[k][tx];
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i] += wt[ty + 8 * i][k] * v;
        }
        __syncthreads();
    }
    if (c >= C) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int r = r0 + ty + 8 * i;
        if (r < R) {
            const size_t at = ((size_t)blockIdx.z * R + r) * C + c;
            out[at] = __float2bfloat16(epilogue(acc[i] + __bfloat162float(bias[r]), at));
        }
    }
}

void mixer_token_mixing(const bf16* x, const bf16* ln_g, const bf16* ln_b, const bf16* w1, const bf16* b1, const bf16* w2,
                        const bf16* b2, bf16* y, bf16* h, bf16* out, int batch, int tokens, int channels, int hidden, float eps,
                        cudaStream_t stream = 0) {
    const int rows = batch * tokens;
    layernorm_tokens<<<(rows + 7) / 8, 256, 0, stream>>>(x, ln_g, ln_b, y, rows, channels, eps);
    dim3 block(32, 8);
    dim3 g1((channels + 31) / 32, (hidden + 31) / 32, batch);
    mix<<<g1, block, 0, stream>>>(w1, b1, y, h, hidden, tokens, channels, GeluTanh{});
    dim3 g2((channels + 31) / 32, (tokens + 31) / 32, batch);
    mix<<<g2, block, 0, stream>>>(w2, b2, h, out, tokens, hidden, channels, AddResidual{x});
}
