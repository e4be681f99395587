/* Conv3d -> HardSwish -> GroupNorm -> mean over (D, H, W)          (level2/27)
 *
 *   x      [N, Cin, D, H, W]           half
 *   weight [Cout, Cin, K, K, K]        half
 *   out    [N, Cout]                   half
 *
 * stride 1, no padding
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void conv3d_hardswish(const __half* x, const __half* w, const __half* b, __half* y,
                                 int N, int Cin, int D, int H, int W, int Cout, int K,
                                 int OD, int OH, int OW)
{
    long idx = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long total = (long)N * Cout * OD * OH * OW;
    if (idx >= total) return;

    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int od = (idx / ((long)OW * OH)) % OD;
    int co = (idx / ((long)OW * OH * OD)) % Cout;
    int n  = idx / ((long)OW * OH * OD * Cout);

    float sum = __half2float(b[co]);
    for (int ci = 0; ci < Cin; ci++)
        for (int kd = 0; kd < K; kd++)
            for (int kh = 0; kh < K; kh++)
                for (int kw = 0; kw < K; kw++) {
                    long xi = ((((long)n * Cin + ci) * D + od + kd) * H + oh + kh) * W + ow + kw;
                    int wi = (((co * Cin + ci) * K + kd) * K + kh) * K + kw;
                    sum += __half2float(x[xi]) * __half2float(w[wi]);
                }

    // hardswish
    float r6 = fminf(fmaxf(sum + 3.0f, 0.0f), 6.0f);
    y[idx] = __float2half(sum * r6 / 6.0f);
}

__global__ void group_stats(const __half* y, float* mean, float* rstd, long group_size, float eps)
{
    __shared__ float s1[512];
    __shared__ float s2[512];
    int tid = threadIdx.x;
    const __half* p = y + (long)blockIdx.x * group_size;

    float a = 0.0f;
    for (long i = tid; i < group_size; i += blockDim.x) a += __half2float(p[i]);
    s1[tid] = a;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o /= 2) {
        if (tid < o) s1[tid] += s1[tid + o];
        __syncthreads();
    }
    float mu = s1[0] / (float)group_size;

    float v = 0.0f;
    for (long i = tid; i < group_size; i += blockDim.x) {
        float d = __half2float(p[i]) - mu;
        v += d * d;
    }
    s2[tid] = v;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o /= 2) {
        if (tid < o) s2[tid] += s2[tid + o];
        __syncthreads();
    }
    if (tid == 0) {
        mean[blockIdx.x] = mu;
        rstd[blockIdx.x] = rsqrtf(s2[0] / (float)group_size + eps);
    }
}

__global__ void normalize_and_mean(const __half* y, const float* mean, const float* rstd,
                                   const __half* gamma, const __half* beta, __half* out,
                                   int Cout, int groups, int spatial)
{
    __shared__ float s[256];
    int n = blockIdx.x / Cout;
    int c = blockIdx.x % Cout;
    int g = c / (Cout / groups);
    float mu = mean[n * groups + g];
    float rs = rstd[n * groups + g];
    float ga = __half2float(gamma[c]);
    float be = __half2float(beta[c]);
    const __half* p = y + (long)blockIdx.x * spatial;

    float a = 0.0f;
    for (int i = threadIdx.x; i < spatial; i += blockDim.x)
        a += (__half2float(p[i]) - mu) * rs * ga + be;
    s[threadIdx.x] = a;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o /= 2) {
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = __float2half(s[0] / spatial);
}

void conv3d_hardswish_groupnorm_mean(const __half* x, const __half* weight, const __half* bias,
                                     const __half* gamma, const __half* beta,
                                     __half* y, float* mean, float* rstd, __half* out,
                                     int N, int Cin, int D, int H, int W, int Cout, int K,
                                     int groups, float eps)
{
    int OD = D - K + 1, OH = H - K + 1, OW = W - K + 1;
    long total = (long)N * Cout * OD * OH * OW;
    conv3d_hardswish<<<(unsigned)((total + 255) / 256), 256>>>(x, weight, bias, y, N, Cin, D, H, W,
                                                               Cout, K, OD, OH, OW);
    int spatial = OD * OH * OW;
    group_stats<<<N * groups, 512>>>(y, mean, rstd, (long)(Cout / groups) * spatial, eps);
    normalize_and_mean<<<N * Cout, 256>>>(y, mean, rstd, gamma, beta, out, Cout, groups, spatial);
}
