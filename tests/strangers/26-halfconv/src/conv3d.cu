// nn.Conv3d, nn.ConvTranspose3d: one thread per output.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;

// nn.Conv3d(C, OC, K, stride=stride, padding=pad), bf16 with an fp32 bias.
__global__ void conv3d_kernel(const bf16* __restrict__ x, const bf16* __restrict__ w, const float* __restrict__ bias,
                              bf16* __restrict__ y, int C, int D, int H, int W, int OC, int K, int stride, int pad,
                              int OD, int OH, int OW)
{
    int hw = blockIdx.x * blockDim.x + threadIdx.x;
    int oc = blockIdx.y % OC;
    int od = blockIdx.y / OC;
    int n = blockIdx.z;
    if (hw >= OH * OW) return;
    int oh = hw / OW;
    int ow = hw % OW;

    float acc = bias[oc];
    for (int c = 0; c < C; c++) {
        for (int a = 0; a < K; a++) {
            int id = od * stride - pad + a;
            if (id < 0 || id >= D) continue;
            for (int b = 0; b < K; b++) {
                int ih = oh * stride - pad + b;
                if (ih < 0 || ih >= H) continue;
                for (int e = 0; e < K; e++) {
                    int iw = ow * stride - pad + e;
                    if (iw < 0 || iw >= W) continue;
                    acc += __bfloat162float(x[(((n * C + c) * D + id) * H + ih) * W + iw]) *
                           __bfloat162float(w[(((oc * C + c) * K + a) * K + b) * K + e]);
                }
            }
        }
    }
    y[(((n * OC + oc) * OD + od) * OH + oh) * OW + ow] = __float2bfloat16(acc);
}

extern "C" void conv3d_strided_bf16(const bf16* x, const bf16* w, const float* bias, bf16* y, int N, int C, int D, int H,
                                    int W, int OC, int K, int stride, int pad, cudaStream_t stream)
{
    int OD = (D + 2 * pad - K) / stride + 1;
    int OH = (H + 2 * pad - K) / stride + 1;
    int OW = (W + 2 * pad - K) / stride + 1;
    dim3 grid((OH * OW + 127) / 128, OC * OD, N);
    conv3d_kernel<<<grid, 128, 0, stream>>>(x, w, bias, y, C, D, H, W, OC, K, stride, pad, OD, OH, OW);
}

// nn.Conv3d(C, OC, (3, 5, 7), bias=False)
template <int KD, int KH, int KW>
__global__ void conv3d_asym_kernel(const __half* x, const __half* w, __half* y, int N, int C, int D, int H, int W, int OC)
{
    const int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * OD * OH * OW) return;
    int ow = i % OW, t = i / OW;
    int oh = t % OH; t /= OH;
    int od = t % OD; t /= OD;
    int oc = t % OC;
    int n = t / OC;

    float s = 0.0f;
    for (int c = 0; c < C; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++) {
                const __half* xr = x + (((size_t)(n * C + c) * D + od + kd) * H + oh + kh) * W + ow;
                const __half* wr = w + (((oc * C + c) * KD + kd) * KH + kh) * KW;
#pragma unroll
                for (int kw = 0; kw < KW; kw++) s += __half2float(xr[kw]) * __half2float(wr[kw]);
            }
    y[i] = __float2half(s);
}

extern "C" void conv3d_k3x5x7_f16(const __half* x, const __half* w, __half* y, int N, int C, int D, int H, int W, int OC,
                                  cudaStream_t stream)
{
    int total = N * OC * (D - 2) * (H - 4) * (W - 6);
    conv3d_asym_kernel<3, 5, 7><<<(total + 255) / 256, 256, 0, stream>>>(x, w, y, N, C, D, H, W, OC);
}

// nn.ConvTranspose3d(IC, OC, K, stride, padding, output_padding), w: (IC, OC, K, K, K)
__global__ void convt3d_kernel(const __half* x, const __half* w, const __half* bias, __half* y, int N, int IC, int OC,
                               int D, int H, int W, int K, int stride, int pad, int OD, int OH, int OW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * OD * OH * OW) return;
    int ow = i % OW;
    int oh = (i / OW) % OH;
    int od = (i / (OW * OH)) % OD;
    int oc = (i / (OW * OH * OD)) % OC;
    int n = i / (OW * OH * OD * OC);

    float acc = __half2float(bias[oc]);
    for (int ic = 0; ic < IC; ic++) {
        for (int kd = 0; kd < K; kd++) {
            int td = od + pad - kd;
            if (td < 0 || td % stride || td / stride >= D) continue;
            for (int kh = 0; kh < K; kh++) {
                int th = oh + pad - kh;
                if (th < 0 || th % stride || th / stride >= H) continue;
                for (int kw = 0; kw < K; kw++) {
                    int tw = ow + pad - kw;
                    if (tw < 0 || tw % stride || tw / stride >= W) continue;
                    float xv = __half2float(x[(((n * IC + ic) * D + td / stride) * H + th / stride) * W + tw / stride]);
                    float wv = __half2float(w[(((ic * OC + oc) * K + kd) * K + kh) * K + kw]);
                    acc += xv * wv;
                }
            }
        }
    }
    y[i] = __float2half(acc);
}

extern "C" void convt3d_square_f16(const __half* x, const __half* w, const __half* bias, __half* y, int N, int IC,
                                   int OC, int D, int H, int W, int K, int stride, int pad, int out_pad,
                                   cudaStream_t stream)
{
    int OD = (D - 1) * stride - 2 * pad + K + out_pad;
    int OH = (H - 1) * stride - 2 * pad + K + out_pad;
    int OW = (W - 1) * stride - 2 * pad + K + out_pad;
    int total = N * OC * OD * OH * OW;
    convt3d_kernel<<<(total + 255) / 256, 256, 0, stream>>>(x, w, bias, y, N, IC, OC, D, H, W, K, stride, pad, OD, OH,
                                                            OW);
}

// nn.ConvTranspose3d(C, C, 4, stride=2, padding=1, groups=C, bias=False): each side doubles.
// Only two taps per axis have the right parity, so step over the others.
__global__ void convt3d_depthwise_kernel(const __half* __restrict__ x, const __half* __restrict__ w,
                                         __half* __restrict__ y, int C, int D, int H, int W)
{
    const int OH = 2 * H, OW = 2 * W, OD = 2 * D;
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int od = blockIdx.z % OD;
    int nc = blockIdx.z / OD;
    if (ow >= OW || oh >= OH) return;
    int c = nc % C;

    float acc = 0.f;
    for (int kd = (od + 1) & 1; kd < 4; kd += 2) {
        int id = (od + 1 - kd) / 2;
        if (od + 1 - kd < 0 || id >= D) continue;
        for (int kh = (oh + 1) & 1; kh < 4; kh += 2) {
            int ih = (oh + 1 - kh) / 2;
            if (oh + 1 - kh < 0 || ih >= H) continue;
            for (int kw = (ow + 1) & 1; kw < 4; kw += 2) {
                int iw = (ow + 1 - kw) / 2;
                if (ow + 1 - kw < 0 || iw >= W) continue;
                acc += __half2float(x[((nc * D + id) * H + ih) * W + iw]) *
                       __half2float(w[((c * 4 + kd) * 4 + kh) * 4 + kw]);
            }
        }
    }
    y[((nc * OD + od) * OH + oh) * OW + ow] = __float2half(acc);
}

extern "C" void convt3d_depthwise_f16(const __half* x, const __half* w, __half* y, int N, int C, int D, int H, int W,
                                      cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((2 * W + 31) / 32, (2 * H + 7) / 8, N * C * 2 * D);
    convt3d_depthwise_kernel<<<grid, block, 0, stream>>>(x, w, y, C, D, H, W);
}
