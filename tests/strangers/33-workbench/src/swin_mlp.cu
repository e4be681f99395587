// MLP half of a Swin transformer block: y = x + fc2(gelu(fc1(layernorm(x)))), half precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum Epilogue { kBiasGelu, kBiasResidual };

// a warp per token, mean and variance in registers
__global__ void layernorm_kernel(const half* __restrict__ x, const half* __restrict__ gamma,
                                 const half* __restrict__ beta, half* __restrict__ y, int tokens, int dim, float eps)
{
    const int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens) return;
    const half* xp = x + (size_t)token * dim;
    half* yp = y + (size_t)token * dim;

    float sum = 0.f;
    for (int i = threadIdx.x; i < dim; i += 32) sum += __half2float(xp[i]);
    for (int m = 16; m; m >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, m);
    const float mean = sum / dim;

    float sq = 0.f;
    for (int i = threadIdx.x; i < dim; i += 32) {
        const float d = __half2float(xp[i]) - mean;
        sq += d * d;
    }
    for (int m = 16; m; m >>= 1) sq += __shfl_xor_sync(0xffffffff, sq, m);
    const float rstd = rsqrtf(sq / dim + eps);

    for (int i = threadIdx.x; i < dim; i += 32)
        yp[i] = __float2half((__half2float(xp[i]) - mean) * rstd * __half2float(gamma[i]) + __half2float(beta[i]));
}

// out[T, O] = epilogue(in[T, I] * w[O, I]^T + b[O]); 32 x 32 tile of 16 x 16 threads, each 2 x 2
template <Epilogue EPI>
__global__ void linear_kernel(const half* __restrict__ in, const half* __restrict__ w, const half* __restrict__ b,
                              const half* __restrict__ residual, half* __restrict__ out, int T, int I, int O)
{
    __shared__ half s_in[32][18];
    __shared__ half s_w[32][18];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int t0 = blockIdx.x * 32, o0 = blockIdx.y * 32;

    float acc[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
    for (int k0 = 0; k0 < I; k0 += 16) {
        const bool kin = k0 + tx < I;
#pragma unroll
        for (int r = 0; r < 32; r += 16) {
            const int t = t0 + ty + r, o = o0 + ty + r;
            s_in[ty + r][tx] = (kin && t < T) ? in[(size_t)t * I + k0 + tx] : __float2half(0.f);
            s_w[ty + r][tx] = (kin && o < O) ? w[(size_t)o * I + k0 + tx] : __float2half(0.f);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float a0 = __half2float(s_in[ty][k]), a1 = __half2float(s_in[ty + 16][k]);
            const float b0 = __half2float(s_w[tx][k]), b1 = __half2float(s_w[tx + 16][k]);
            acc[0][0] += a0 * b0;
            acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0;
            acc[1][1] += a1 * b1;
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const int t = t0 + ty + 16 * i, o = o0 + tx + 16 * j;
            if (t >= T || o >= O) continue;
            float v = acc[i][j] + __half2float(b[o]);
            if (EPI == kBiasGelu)
                v = 0.5f * v * (1.f + erff(v * 0.70710678f));
            else
                v += __half2float(residual[(size_t)t * O + o]);
            out[(size_t)t * O + o] = __float2half(v);
        }
}

void swin_mlp_forward(const half* x, const half* gamma, const half* beta, const half* w1, const half* b1,
                      const half* w2, const half* b2, half* y, half* normed, half* hidden, int tokens, int dim,
                      int hidden_dim, float eps, cudaStream_t stream)
{
    if (tokens <= 0 || dim <= 0 || hidden_dim <= 0) return;
    layernorm_kernel<<<(tokens + 3) / 4, dim3(32, 4), 0, stream>>>(x, gamma, beta, normed, tokens, dim, eps);
    const dim3 block(16, 16);
    linear_kernel<kBiasGelu><<<dim3((tokens + 31) / 32, (hidden_dim + 31) / 32), block, 0, stream>>>(
        normed, w1, b1, nullptr, hidden, tokens, dim, hidden_dim);
    linear_kernel<kBiasResidual><<<dim3((tokens + 31) / 32, (dim + 31) / 32), block, 0, stream>>>(
        hidden, w2, b2, x, y, tokens, hidden_dim, dim);
}
