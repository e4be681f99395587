// Conv2d -> GroupNorm -> HardSwish -> MaxPool2d, fp32, NCHW.
#include <cuda_runtime.h>
#include <math_constants.h>

__global__ void conv2d_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                              float* __restrict__ y, int C, int H, int W, int CO, int K, int OH, int OW)
{
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    const int co = blockIdx.z % CO;
    const int n = blockIdx.z / CO;
    if (ow >= OW || oh >= OH) return;

    float acc = b[co];
    for (int c = 0; c < C; ++c) {
        const float* xp = x + ((size_t)(n * C + c) * H + oh) * W + ow;
        const float* wp = w + (size_t)(co * C + c) * K * K;
        for (int i = 0; i < K; ++i)
            for (int j = 0; j < K; ++j) acc += xp[i * W + j] * wp[i * K + j];
    }
    y[((size_t)blockIdx.z * OH + oh) * OW + ow] = acc;
}

// one block per (sample, group): mean and 1/std
__global__ void group_stats_kernel(const float* __restrict__ y, float2* __restrict__ stats, int count, float eps)
{
    __shared__ float ssum[256];
    __shared__ float ssq[256];
    const float* p = y + (size_t)blockIdx.x * count;
    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float v = p[i];
        s += v;
        q += v * v;
    }
    ssum[threadIdx.x] = s;
    ssq[threadIdx.x] = q;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k) {
            ssum[threadIdx.x] += ssum[threadIdx.x + k];
            ssq[threadIdx.x] += ssq[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float mean = ssum[0] / count;
        const float var = fmaxf(ssq[0] / count - mean * mean, 0.f);
        stats[blockIdx.x] = make_float2(mean, rsqrtf(var + eps));
    }
}

__global__ void norm_act_pool_kernel(const float* __restrict__ y, const float2* __restrict__ stats,
                                     const float* __restrict__ gamma, const float* __restrict__ beta,
                                     float* __restrict__ out, int CO, int G, int OH, int OW, int P, int PH, int PW,
                                     int total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int pw = i % PW;
    const int ph = (i / PW) % PH;
    const int plane = i / (PW * PH);
    const int c = plane % CO;
    const int n = plane / CO;
    const float2 st = stats[n * G + c / (CO / G)];

    float best = -CUDART_INF_F;
    for (int a = 0; a < P; ++a)
        for (int b = 0; b < P; ++b) {
            float v = y[((size_t)plane * OH + ph * P + a) * OW + pw * P + b];
            v = (v - st.x) * st.y * gamma[c] + beta[c];
            v = v * fminf(fmaxf(v + 3.f, 0.f), 6.f) / 6.f;
            best = fmaxf(best, v);
        }
    out[i] = best;
}

// conv_ws: N * CO * OH * OW floats, stats: N * G float2
extern "C" void conv_gn_hswish_pool(const float* x, const float* w, const float* bias, const float* gamma,
                                    const float* beta, float* out, float* conv_ws, float2* stats, int N, int C, int H,
                                    int W, int CO, int K, int G, int P, float eps, cudaStream_t stream)
{
    if (H < K || W < K || G <= 0 || CO % G != 0 || P <= 0 || N <= 0) return;
    const int OH = H - K + 1, OW = W - K + 1;
    if ((long long)N * CO > 65535 || (long long)N * C > 2147483647LL || (long long)N * CO * OH * OW > 2147483000LL) return;
    dim3 block(32, 8);
    dim3 grid((OW + 31) / 32, (OH + 7) / 8, N * CO);
    conv2d_kernel<<<grid, block, 0, stream>>>(x, w, bias, conv_ws, C, H, W, CO, K, OH, OW);
    group_stats_kernel<<<N * G, 256, 0, stream>>>(conv_ws, stats, (CO / G) * OH * OW, eps);
    const int PH = OH / P, PW = OW / P;
    const int total = N * CO * PH * PW;
    if (total > 0)
        norm_act_pool_kernel<<<(total + 255) / 256, 256, 0, stream>>>(conv_ws, stats, gamma, beta, out, CO, G, OH, OW,
                                                                      P, PH, PW, total);
}
