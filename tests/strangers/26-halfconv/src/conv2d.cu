// nn.Conv2d in several shapes, fp16.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

// ---------------------------------------------------------------------------
// nn.Conv2d(C, OC, (3, 7), bias=False): asymmetric kernel, no padding.
// ---------------------------------------------------------------------------
template <int KH, int KW>
__global__ void conv2d_asym_kernel(const half* x, const half* w, half* y, int N, int C, int H, int W, int OC)
{
    const int OH = H - KH + 1;
    const int OW = W - KW + 1;
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= (long long)N * OC * OH * OW) return;

    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int oc = (idx / ((long long)OW * OH)) % OC;
    int n = idx / ((long long)OW * OH * OC);

    float acc = 0.f;
    for (int c = 0; c < C; ++c)
        for (int kh = 0; kh < KH; ++kh)
            for (int kw = 0; kw < KW; ++kw)
                acc += __half2float(x[((n * C + c) * H + oh + kh) * W + ow + kw]) *
                       __half2float(w[((oc * C + c) * KH + kh) * KW + kw]);
    y[idx] = __float2half(acc);
}

extern "C" void conv2d_k3x7_f16(const half* x, const half* w, half* y, int N, int C, int H, int W, int OC,
                                cudaStream_t stream)
{
    long long total = (long long)N * OC * (H - 2) * (W - 6);
    int threads = 256;
    conv2d_asym_kernel<3, 7><<<(unsigned)((total + threads - 1) / threads), threads, 0, stream>>>(x, w, y, N, C, H, W, OC);
}

// ---------------------------------------------------------------------------
// AlexNet's first layer: nn.Conv2d(3, OC, 11, stride=4, padding=2) + bias.
// A block works on one output channel of one image; its filter is converted to
// float once and kept in shared memory.  Two neighbouring outputs per thread
// share most of their row.
// ---------------------------------------------------------------------------
constexpr int AK = 11, AS = 4, AP = 2, AC = 3;

__global__ void alexnet_conv1_kernel(const half* __restrict__ x, const half* __restrict__ w,
                                     const half* __restrict__ bias, half* __restrict__ y,
                                     int H, int W, int OC, int OH, int OW)
{
    __shared__ float filt[AC * AK * AK];
    const int oc = blockIdx.y;
    const int n = blockIdx.z;
    const int tid = threadIdx.x;
    for (int i = tid; i < AC * AK * AK; i += blockDim.x) filt[i] = __half2float(w[oc * AC * AK * AK + i]);
    __syncthreads();

    const int pairs = (OW + 1) / 2;
    const int p = blockIdx.x * blockDim.x + tid;
    if (p >= OH * pairs) return;
    const int oh = p / pairs;
    const int ow = (p % pairs) * 2;

    float a0 = __half2float(bias[oc]);
    float a1 = a0;
    for (int c = 0; c < AC; ++c) {
        const half* plane = x + ((size_t)n * AC + c) * H * W;
        for (int kh = 0; kh < AK; ++kh) {
            const int ih = oh * AS - AP + kh;
            if (ih < 0 || ih >= H) continue;
            float row[AK + AS];
#pragma unroll
            for (int j = 0; j < AK + AS; ++j) {
                const int iw = ow * AS - AP + j;
                row[j] = (iw >= 0 && iw < W) ? __half2float(plane[ih * W + iw]) : 0.f;
            }
            const float* f = filt + (c * AK + kh) * AK;
#pragma unroll
            for (int kw = 0; kw < AK; ++kw) {
                a0 = fmaf(row[kw], f[kw], a0);
                a1 = fmaf(row[kw + AS], f[kw], a1);
            }
        }
    }
    half* out = y + (((size_t)n * OC + oc) * OH + oh) * OW;
    out[ow] = __float2half(a0);
    if (ow + 1 < OW) out[ow + 1] = __float2half(a1);
}

extern "C" void conv2d_k11_stride4_f16(const half* x, const half* w, const half* bias, half* y, int N, int H, int W,
                                       int OC, cudaStream_t stream)
{
    int OH = (H + 2 * AP - AK) / AS + 1;
    int OW = (W + 2 * AP - AK) / AS + 1;
    int work = OH * ((OW + 1) / 2);
    dim3 grid((work + 127) / 128, OC, N);
    alexnet_conv1_kernel<<<grid, 128, 0, stream>>>(x, w, bias, y, H, W, OC, OH, OW);
}

// ---------------------------------------------------------------------------
// The way Caffe did it: im2col for the whole batch, then a tiled GEMM.
//   col: (N, C * K * K, OH * OW)     y[n] = w (OC x C*K*K) * col[n]
// ---------------------------------------------------------------------------
__global__ void im2col_kernel(const half* x, half* col, int C, int H, int W, int K, int stride, int pad, int OH, int OW)
{
    int pix = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;             // c * K * K + kh * K + kw
    int n = blockIdx.z;
    if (pix >= OH * OW) return;
    int kw = row % K;
    int kh = (row / K) % K;
    int c = row / (K * K);
    int ih = (pix / OW) * stride - pad + kh;
    int iw = (pix % OW) * stride - pad + kw;
    half v = __float2half(0.f);
    if (ih >= 0 && ih < H && iw >= 0 && iw < W) v = x[((size_t)(n * C + c) * H + ih) * W + iw];
    col[((size_t)n * C * K * K + row) * (OH * OW) + pix] = v;
}

#define TS 16
__global__ void gemm_tiled_kernel(const half* __restrict__ A, const half* __restrict__ B, const half* __restrict__ bias,
                                  half* __restrict__ Cm, int M, int Nn, int Kk)
{
    __shared__ half As[TS][TS];
    __shared__ half Bs[TS][TS + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;
    B += (size_t)blockIdx.z * Kk * Nn;
    Cm += (size_t)blockIdx.z * M * Nn;
    float acc = 0.f;
    for (int k0 = 0; k0 < Kk; k0 += TS) {
        As[ty][tx] = (row < M && k0 + tx < Kk) ? A[row * Kk + k0 + tx] : __float2half(0.f);
        Bs[ty][tx] = (col < Nn && k0 + ty < Kk) ? B[(size_t)(k0 + ty) * Nn + col] : __float2half(0.f);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TS; ++k) acc += __half2float(As[ty][k]) * __half2float(Bs[k][tx]);
        __syncthreads();
    }
    if (row < M && col < Nn) Cm[(size_t)row * Nn + col] = __float2half(acc + __half2float(bias[row]));
}

extern "C" void conv2d_im2col_f16(const half* x, const half* w, const half* bias, half* y, half* col, int N, int C,
                                  int H, int W, int OC, int K, int stride, int pad, cudaStream_t stream)
{
    int OH = (H + 2 * pad - K) / stride + 1;
    int OW = (W + 2 * pad - K) / stride + 1;
    int rows = C * K * K;
    dim3 g1((OH * OW + 255) / 256, rows, N);
    im2col_kernel<<<g1, 256, 0, stream>>>(x, col, C, H, W, K, stride, pad, OH, OW);
    dim3 g2((OH * OW + TS - 1) / TS, (OC + TS - 1) / TS, N);
    gemm_tiled_kernel<<<g2, dim3(TS, TS), 0, stream>>>(w, col, bias, y, OC, OH * OW, rows);
}

// ---------------------------------------------------------------------------
// nn.Conv2d(C, OC, 1) on tensor cores: one warp makes a 16 x 32 tile of
// (OC) x (pixels of one image).  Edges are padded with zeros in shared memory.
// ---------------------------------------------------------------------------
using namespace nvcuda;

__global__ void pointwise_wmma_kernel(const half* __restrict__ x, const half* __restrict__ w,
                                      const half* __restrict__ bias, half* __restrict__ y, int C, int OC, int HW)
{
    __shared__ half sw[16 * 16];
    __shared__ half sx[16 * 32];
    __shared__ float so[16 * 32];

    const int lane = threadIdx.x;
    const int p0 = blockIdx.x * 32;
    const int oc0 = blockIdx.y * 16;
    const half* xn = x + (size_t)blockIdx.z * C * HW;
    half* yn = y + (size_t)blockIdx.z * OC * HW;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc0, acc1;
    wmma::fill_fragment(acc0, 0.f);
    wmma::fill_fragment(acc1, 0.f);

    for (int k0 = 0; k0 < C; k0 += 16) {
        for (int i = lane; i < 256; i += 32) {
            int r = i / 16, k = i % 16;
            sw[i] = (oc0 + r < OC && k0 + k < C) ? w[(oc0 + r) * C + k0 + k] : __float2half(0.f);
        }
        for (int k = 0; k < 16; ++k)
            sx[k * 32 + lane] = (k0 + k < C && p0 + lane < HW) ? xn[(size_t)(k0 + k) * HW + p0 + lane] : __float2half(0.f);
        __syncwarp();

        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b0, b1;
        wmma::load_matrix_sync(a, sw, 16);
        wmma::load_matrix_sync(b0, sx, 32);
        wmma::load_matrix_sync(b1, sx + 16, 32);
        wmma::mma_sync(acc0, a, b0, acc0);
        wmma::mma_sync(acc1, a, b1, acc1);
        __syncwarp();
    }

    wmma::store_matrix_sync(so, acc0, 32, wmma::mem_row_major);
    wmma::store_matrix_sync(so + 16, acc1, 32, wmma::mem_row_major);
    __syncwarp();
    if (p0 + lane >= HW) return;
    for (int r = 0; r < 16 && oc0 + r < OC; ++r)
        yn[(size_t)(oc0 + r) * HW + p0 + lane] = __float2half(so[r * 32 + lane] + __half2float(bias[oc0 + r]));
}

extern "C" void pointwise_wmma_f16(const half* x, const half* w, const half* bias, half* y, int N, int C, int OC, int H,
                                   int W, cudaStream_t stream)
{
    int HW = H * W;
    dim3 grid((HW + 31) / 32, (OC + 15) / 16, N);
    pointwise_wmma_kernel<<<grid, 32, 0, stream>>>(x, w, bias, y, C, OC, HW);
}
