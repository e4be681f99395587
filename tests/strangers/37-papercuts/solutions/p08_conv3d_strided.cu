// Conv3d with any kernel size, one stride, one padding. Straight loops, float.
#include <cuda_runtime.h>

struct ConvShape {
    int N, C, D, H, W;
    int K, KD, KH, KW;
    int stride, pad;
    int OD, OH, OW;
};

__global__ void conv3d_forward_kernel(const float *input, const float *weight, const float *bias, float *output, ConvShape s)
{
    int total = s.N * s.K * s.OD * s.OH * s.OW;
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += gridDim.x * blockDim.x) {
        int ow = idx % s.OW;
        int t = idx / s.OW;
        int oh = t % s.OH;
        t /= s.OH;
        int od = t % s.OD;
        t /= s.OD;
        int k = t % s.K;
        int n = t / s.K;

        float value = bias[k];
        for (int c = 0; c < s.C; c++) {
            for (int kd = 0; kd < s.KD; kd++) {
                int id = od * s.stride - s.pad + kd;
                if (id < 0 || id >= s.D) continue;
                for (int kh = 0; kh < s.KH; kh++) {
                    int ih = oh * s.stride - s.pad + kh;
                    if (ih < 0 || ih >= s.H) continue;
                    for (int kw = 0; kw < s.KW; kw++) {
                        int iw = ow * s.stride - s.pad + kw;
                        if (iw < 0 || iw >= s.W) continue;
                        value += input[(((n * s.C + c) * s.D + id) * s.H + ih) * s.W + iw] *
                                 weight[(((k * s.C + c) * s.KD + kd) * s.KH + kh) * s.KW + kw];
                    }
                }
            }
        }
        output[idx] = value;
    }
}

void conv3d_strided(const float *input, const float *weight, const float *bias, float *output, int N, int C, int D, int H,
                    int W, int K, int KD, int KH, int KW, int stride, int pad)
{
    ConvShape s = {N, C, D, H, W, K, KD, KH, KW, stride, pad, 0, 0, 0};
    s.OD = (D + 2 * pad - KD) / stride + 1;
    s.OH = (H + 2 * pad - KH) / stride + 1;
    s.OW = (W + 2 * pad - KW) / stride + 1;
    int total = N * K * s.OD * s.OH * s.OW;
    int blocks = (total + 255) / 256;
    if (blocks > 4096) blocks = 4096;
    conv3d_forward_kernel<<<blocks, 256>>>(input, weight, bias, output, s);
}
