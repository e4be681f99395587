// conv 3x3 -> subtract -> hardswish -> max pool 2 -> mish. Naive: a thread per element, one kernel per half.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void conv_sub_hswish(const half *x, const half *w, const half *b, half *y, int N, int C, int H, int W, int K,
                                float sub)
{
    int OH = H - 2, OW = W - 2;
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= (long long)N * K * OH * OW) return;

    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int k = (idx / ((long long)OW * OH)) % K;
    int n = idx / ((long long)OW * OH * K);

    float sum = __half2float(b[k]);
    for (int c = 0; c < C; c++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += __half2float(x[(((long long)n * C + c) * H + oh + i) * W + ow + j])
                     * __half2float(w[((k * C + c) * 3 + i) * 3 + j]);
    sum -= sub;
    sum = sum * fminf(fmaxf(sum + 3.0f, 0.0f), 6.0f) / 6.0f;
    y[idx] = __float2half(sum);
}

__global__ void pool_mish(const half *y, half *out, long long total, int OH, int OW)
{
    int PH = OH / 2, PW = OW / 2;
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= total) return;
    int pw = idx % PW;
    int ph = (idx / PW) % PH;
    long long plane = idx / ((long long)PW * PH);

    const half *p = y + plane * OH * OW + (2 * ph) * OW + 2 * pw;
    float m = __half2float(p[0]);
    m = fmaxf(m, __half2float(p[1]));
    m = fmaxf(m, __half2float(p[OW]));
    m = fmaxf(m, __half2float(p[OW + 1]));
    float sp = m > 20.0f ? m : log1pf(expf(m));
    out[idx] = __float2half(m * tanhf(sp));
}

void conv_sub_hswish_pool_mish(const half *x, const half *w, const half *b, half *tmp, half *out, int N, int C, int H, int W,
                               int K, float sub)
{
    int OH = H - 2, OW = W - 2;
    long long n1 = (long long)N * K * OH * OW;
    conv_sub_hswish<<<(unsigned)((n1 + 255) / 256), 256>>>(x, w, b, tmp, N, C, H, W, K, sub);
    long long n2 = (long long)N * K * (OH / 2) * (OW / 2);
    pool_mish<<<(unsigned)((n2 + 255) / 256), 256>>>(tmp, out, n2, OH, OW);
}
