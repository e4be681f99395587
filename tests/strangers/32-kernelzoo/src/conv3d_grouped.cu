// nn.Conv3d with groups and an asymmetric window, half precision with float accumulation. One thread per output.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void conv3d_grouped_kernel(const half* x, const half* w, const half* bias, half* y, int N, int C, int D,
                                      int H, int W, int CO, int KD, int KH, int KW, int OD, int OH, int OW, int stride,
                                      int pd, int ph, int pw, int groups)
{
    size_t idx = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t total = (size_t)N * CO * OD * OH * OW;
    if (idx >= total) return;

    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int od = (idx / ((size_t)OW * OH)) % OD;
    int co = (idx / ((size_t)OW * OH * OD)) % CO;
    int n = idx / ((size_t)OW * OH * OD * CO);

    int cpg = C / groups;
    int g = co / (CO / groups);

    float sum = bias ? __half2float(bias[co]) : 0.0f;
    for (int ci = 0; ci < cpg; ci++) {
        for (int kd = 0; kd < KD; kd++) {
            int id = od * stride - pd + kd;
            if (id < 0 || id >= D) continue;
            for (int kh = 0; kh < KH; kh++) {
                int ih = oh * stride - ph + kh;
                if (ih < 0 || ih >= H) continue;
                for (int kw = 0; kw < KW; kw++) {
                    int iw = ow * stride - pw + kw;
                    if (iw < 0 || iw >= W) continue;
                    size_t xi = ((((size_t)n * C + g * cpg + ci) * D + id) * H + ih) * W + iw;
                    size_t wi = ((((size_t)co * cpg + ci) * KD + kd) * KH + kh) * KW + kw;
                    sum += __half2float(x[xi]) * __half2float(w[wi]);
                }
            }
        }
    }
    y[idx] = __float2half(sum);
}

extern "C" int conv3d_grouped_half(const half* x, const half* w, const half* bias, half* y, int N, int C, int D, int H,
                                   int W, int CO, int KD, int KH, int KW, int stride, int pd, int ph, int pw,
                                   int groups, cudaStream_t stream)
{
    if (groups <= 0 || C % groups || CO % groups || stride <= 0) return -1;
    if (D + 2 * pd < KD || H + 2 * ph < KH || W + 2 * pw < KW) return -1;
    int OD = (D + 2 * pd - KD) / stride + 1;
    int OH = (H + 2 * ph - KH) / stride + 1;
    int OW = (W + 2 * pw - KW) / stride + 1;
    size_t total = (size_t)N * CO * OD * OH * OW;
    if (total == 0) return 0;
    int threads = 256;
    conv3d_grouped_kernel<<<(unsigned)((total + threads - 1) / threads), threads, 0, stream>>>(
        x, w, bias, y, N, C, D, H, W, CO, KD, KH, KW, OD, OH, OW, stride, pd, ph, pw, groups);
    return 0;
}
