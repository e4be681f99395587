// conv3x3 (valid) + bias -> * scale -> mish -> GroupNorm -> MaxPool2d(2)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void conv_scale_mish(const half* x, const half* w, const half* bias, float scale, half* t, int N, int C, int H, int W,
                                int F) {
    int OH = H - 2;
    int OW = W - 2;
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * F * OH * OW) return;
    int ow = idx % OW;
    int oh = idx / OW % OH;
    int f = idx / (OW * OH) % F;
    int n = idx / (OW * OH * F);

    float acc = __half2float(bias[f]);
    for (int c = 0; c < C; ++c)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                acc += __half2float(x[((n * C + c) * H + oh + i) * W + ow + j]) * __half2float(w[((f * C + c) * 3 + i) * 3 + j]);

    acc *= scale;
    float sp = acc > 20.f ? acc : log1pf(expf(acc));
    t[idx] = __float2half(acc * tanhf(sp));
}

// one block per (image, group)
__global__ void group_stats(const half* t, float* mean, float* rstd, int per_group, float eps) {
    __shared__ float s1[256];
    __shared__ float s2[256];
    const half* p = t + (size_t)blockIdx.x * per_group;
    float a = 0.f, b = 0.f;
    for (int i = threadIdx.x; i < per_group; i += blockDim.x) {
        float v = __half2float(p[i]);
        a += v;
        b += v * v;
    }
    s1[threadIdx.x] = a;
    s2[threadIdx.x] = b;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) {
            s1[threadIdx.x] += s1[threadIdx.x + k];
            s2[threadIdx.x] += s2[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float m = s1[0] / per_group;
        float var = s2[0] / per_group - m * m;
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = rsqrtf(fmaxf(var, 0.f) + eps);
    }
}

__global__ void normalize_pool(const half* t, const float* mean, const float* rstd, const half* gamma, const half* beta, half* out,
                               int N, int F, int G, int TH, int TW) {
    int PH = TH / 2;
    int PW = TW / 2;
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * F * PH * PW) return;
    int pw = idx % PW;
    int ph = idx / PW % PH;
    int f = idx / (PW * PH) % F;
    int n = idx / (PW * PH * F);
    int g = n * G + f / (F / G);

    float best = -INFINITY;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            float v = __half2float(t[((n * F + f) * TH + 2 * ph + i) * TW + 2 * pw + j]);
            v = (v - mean[g]) * rstd[g] * __half2float(gamma[f]) + __half2float(beta[f]);
            best = fmaxf(best, v);
        }
    out[idx] = __float2half(best);
}

void conv_mish_groupnorm_maxpool(const half* x, const half* w, const half* bias, const half* gamma, const half* beta, half* t,
                                 float* mean, float* rstd, half* out, int N, int C, int H, int W, int F, int G, float scale,
                                 float eps, cudaStream_t stream = 0) {
    int TH = H - 2, TW = W - 2;
    int n_conv = N * F * TH * TW;
    int n_out = N * F * (TH / 2) * (TW / 2);
    conv_scale_mish<<<(n_conv + 255) / 256, 256, 0, stream>>>(x, w, bias, scale, t, N, C, H, W, F);
    group_stats<<<N * G, 256, 0, stream>>>(t, mean, rstd, F / G * TH * TW, eps);
    normalize_pool<<<(n_out + 255) / 256, 256, 0, stream>>>(t, mean, rstd, gamma, beta, out, N, F, G, TH, TW);
}
