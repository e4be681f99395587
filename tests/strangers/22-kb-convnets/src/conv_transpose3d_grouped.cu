#include <cuda_runtime.h>

// ConvTranspose3d, cubic kernel, with stride, padding, output padding and groups.
// Parameters go to the kernel by value in one struct.
struct DeconvParams {
    int N, C, D, H, W;
    int K, R;
    int stride, pad, groups;
    int OD, OH, OW;
};

__global__ void deconv3d_grouped(const float* __restrict__ x, const float* __restrict__ w,
                                 const float* __restrict__ b, float* __restrict__ y,
                                 const DeconvParams p)
{
    const size_t total = (size_t)p.N * p.K * p.OD * p.OH * p.OW;
    const int cpg = p.C / p.groups;
    const int kpg = p.K / p.groups;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < total;
         i += (size_t)gridDim.x * blockDim.x) {
        int ow = i % p.OW;
        int oh = (i / p.OW) % p.OH;
        int od = (i / ((size_t)p.OW * p.OH)) % p.OD;
        int k = (i / ((size_t)p.OW * p.OH * p.OD)) % p.K;
        int n = i / ((size_t)p.OW * p.OH * p.OD * p.K);
        int g = k / kpg;

        float acc = __ldg(&b[k]);
        for (int kd = 0; kd < p.R; ++kd) {
            int zd = od + p.pad - kd;
            if (zd < 0 || zd % p.stride) continue;
            zd /= p.stride;
            if (zd >= p.D) continue;
            for (int kh = 0; kh < p.R; ++kh) {
                int zh = oh + p.pad - kh;
                if (zh < 0 || zh % p.stride) continue;
                zh /= p.stride;
                if (zh >= p.H) continue;
                for (int kw = 0; kw < p.R; ++kw) {
                    int zw = ow + p.pad - kw;
                    if (zw < 0 || zw % p.stride) continue;
                    zw /= p.stride;
                    if (zw >= p.W) continue;
                    for (int c = 0; c < cpg; ++c) {
                        int ic = g * cpg + c;
                        size_t xi = ((((size_t)n * p.C + ic) * p.D + zd) * p.H + zh) * p.W + zw;
                        size_t wi = ((((size_t)ic * kpg + (k - g * kpg)) * p.R + kd) * p.R + kh) * p.R + kw;
                        acc += __ldg(&x[xi]) * __ldg(&w[wi]);
                    }
                }
            }
        }
        y[i] = acc;
    }
}

extern "C" cudaError_t conv_transpose3d_grouped(const float* x, const float* w, const float* b, float* y,
                                                int N, int C, int D, int H, int W, int K, int R,
                                                int stride, int pad, int output_pad, int groups,
                                                cudaStream_t stream)
{
    DeconvParams p = {N, C, D, H, W, K, R, stride, pad, groups,
                      (D - 1) * stride - 2 * pad + R + output_pad,
                      (H - 1) * stride - 2 * pad + R + output_pad,
                      (W - 1) * stride - 2 * pad + R + output_pad};
    size_t total = (size_t)N * K * p.OD * p.OH * p.OW;
    int blocks = (int)((total + 255) / 256);
    if (blocks > 4096) blocks = 4096;
    deconv3d_grouped<<<blocks, 256, 0, stream>>>(x, w, b, y, p);
    return cudaGetLastError();
}
