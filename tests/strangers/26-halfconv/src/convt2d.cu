// nn.ConvTranspose2d.  Weights are (IC, OC / groups, KH, KW) as in PyTorch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ---------------------------------------------------------------------------
// DCGAN generator layer: kernel 4, stride 2, padding 1, so the image doubles.
// A thread owns one input pixel position and writes the 2 x 2 outputs above it;
// each of the four needs four of the 3 x 3 inputs around it.
// ---------------------------------------------------------------------------
#define CHUNK 16

__global__ void dcgan_up_kernel(const __half* __restrict__ x, const __half* __restrict__ w,
                                const __half* __restrict__ bias, __half* __restrict__ y, int IC, int OC, int H, int W)
{
    __shared__ float ws[CHUNK][16];
    const int iw = blockIdx.x * blockDim.x + threadIdx.x;
    const int ih = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = blockIdx.z / OC;
    const int oc = blockIdx.z % OC;
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int nthreads = blockDim.x * blockDim.y;
    const bool inside = ih < H && iw < W;

    float o00 = 0.f, o01 = 0.f, o10 = 0.f, o11 = 0.f;

    for (int c0 = 0; c0 < IC; c0 += CHUNK) {
        for (int i = tid; i < CHUNK * 16; i += nthreads) {
            int ic = c0 + i / 16;
            ws[i / 16][i % 16] = ic < IC ? __half2float(w[((size_t)ic * OC + oc) * 16 + i % 16]) : 0.f;
        }
        __syncthreads();
        if (inside) {
            for (int c = 0; c < CHUNK && c0 + c < IC; ++c) {
                const __half* p = x + ((size_t)n * IC + c0 + c) * H * W;
                float v[3][3];
#pragma unroll
                for (int dy = 0; dy < 3; ++dy)
#pragma unroll
                    for (int dx = 0; dx < 3; ++dx) {
                        int yy = ih + dy - 1, xx = iw + dx - 1;
                        v[dy][dx] = (yy >= 0 && yy < H && xx >= 0 && xx < W) ? __half2float(p[yy * W + xx]) : 0.f;
                    }
                const float* f = ws[c];
                // output row 2 * ih:     taps 1 (same row) and 3 (row above)
                // output row 2 * ih + 1: taps 2 (same row) and 0 (row below)
                o00 += v[1][1] * f[1 * 4 + 1] + v[1][0] * f[1 * 4 + 3] + v[0][1] * f[3 * 4 + 1] + v[0][0] * f[3 * 4 + 3];
                o01 += v[1][1] * f[1 * 4 + 2] + v[1][2] * f[1 * 4 + 0] + v[0][1] * f[3 * 4 + 2] + v[0][2] * f[3 * 4 + 0];
                o10 += v[1][1] * f[2 * 4 + 1] + v[1][0] * f[2 * 4 + 3] + v[2][1] * f[0 * 4 + 1] + v[2][0] * f[0 * 4 + 3];
                o11 += v[1][1] * f[2 * 4 + 2] + v[1][2] * f[2 * 4 + 0] + v[2][1] * f[0 * 4 + 2] + v[2][2] * f[0 * 4 + 0];
            }
        }
        __syncthreads();
    }
    if (!inside) return;
    const float b = __half2float(bias[oc]);
    const int OW = 2 * W;
    __half* out = y + (((size_t)n * OC + oc) * 2 * H + 2 * ih) * OW + 2 * iw;
    *reinterpret_cast<__half2*>(out) = __floats2half2_rn(o00 + b, o01 + b);
    *reinterpret_cast<__half2*>(out + OW) = __floats2half2_rn(o10 + b, o11 + b);
}

extern "C" void convt2d_k4_s2_f16(const __half* x, const __half* w, const __half* bias, __half* y, int N, int IC,
                                  int OC, int H, int W, cudaStream_t stream)
{
    dim3 block(16, 8);
    dim3 grid((W + 15) / 16, (H + 7) / 8, N * OC);
    dcgan_up_kernel<<<grid, block, 0, stream>>>(x, w, bias, y, IC, OC, H, W);
}

// ---------------------------------------------------------------------------
// Everything different for the two axes: kernel, stride, padding, dilation.
// ---------------------------------------------------------------------------
__global__ void convt2d_asym_kernel(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int H, int W,
                                    int KH, int KW, int SH, int SW, int PH, int PW, int DH, int DW, int OH, int OW)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N * OC * OH * OW) {
        int ow = idx % OW;
        int oh = idx / OW % OH;
        int oc = idx / OW / OH % OC;
        int n = idx / OW / OH / OC;
        float acc = 0.f;
        for (int ic = 0; ic < IC; ++ic) {
            for (int kh = 0; kh < KH; ++kh) {
                for (int kw = 0; kw < KW; ++kw) {
                    int th = oh + PH - kh * DH;
                    int tw = ow + PW - kw * DW;
                    if (th >= 0 && tw >= 0 && th % SH == 0 && tw % SW == 0) {
                        int ih = th / SH;
                        int iw = tw / SW;
                        if (ih < H && iw < W) {
                            acc += __half2float(x[((n * IC + ic) * H + ih) * W + iw]) *
                                   __half2float(w[((ic * OC + oc) * KH + kh) * KW + kw]);
                        }
                    }
                }
            }
        }
        y[idx] = __float2half(acc);
    }
}

extern "C" void convt2d_asym_f16(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int H, int W,
                                 int KH, int KW, int SH, int SW, int PH, int PW, int DH, int DW, cudaStream_t stream)
{
    int OH = (H - 1) * SH - 2 * PH + DH * (KH - 1) + 1;
    int OW = (W - 1) * SW - 2 * PW + DW * (KW - 1) + 1;
    int total = N * OC * OH * OW;
    convt2d_asym_kernel<<<(total + 255) / 256, 256, 0, stream>>>(x, w, y, N, IC, OC, H, W, KH, KW, SH, SW, PH, PW, DH,
                                                                 DW, OH, OW);
}

// ---------------------------------------------------------------------------
// Grouped, bf16, kernel 3, stride 2, padding 1, output_padding 1.
// ---------------------------------------------------------------------------
__global__ void convt2d_grouped_kernel(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                                       const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y,
                                       int groups, int icg, int ocg, int H, int W)
{
    const int OH = 2 * H, OW = 2 * W;
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y;
    const int OC = groups * ocg;
    const int n = blockIdx.z / OC;
    const int oc = blockIdx.z % OC;
    if (ow >= OW) return;
    const int g = oc / ocg;
    const int ocl = oc - g * ocg;

    float acc = __bfloat162float(bias[oc]);
    for (int kh = 0; kh < 3; ++kh) {
        int th = oh + 1 - kh;
        if (th < 0 || (th & 1)) continue;
        int ih = th >> 1;
        if (ih >= H) continue;
        for (int kw = 0; kw < 3; ++kw) {
            int tw = ow + 1 - kw;
            if (tw < 0 || (tw & 1)) continue;
            int iw = tw >> 1;
            if (iw >= W) continue;
            for (int ic = 0; ic < icg; ++ic) {
                int gi = g * icg + ic;
                acc += __bfloat162float(x[((n * groups * icg + gi) * H + ih) * W + iw]) *
                       __bfloat162float(w[((gi * ocg + ocl) * 3 + kh) * 3 + kw]);
            }
        }
    }
    y[((n * OC + oc) * OH + oh) * OW + ow] = __float2bfloat16(acc);
}

extern "C" void convt2d_grouped_bf16(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* bias,
                                     __nv_bfloat16* y, int N, int groups, int icg, int ocg, int H, int W,
                                     cudaStream_t stream)
{
    dim3 grid((2 * W + 63) / 64, 2 * H, N * groups * ocg);
    convt2d_grouped_kernel<<<grid, 64, 0, stream>>>(x, w, bias, y, groups, icg, ocg, H, W);
}
