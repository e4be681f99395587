#include <cuda_runtime.h>
#include <cuda_bf16.h>

// Conv3d with a 3 x 5 x 7 kernel, "valid" padding, strides per axis.
// Four outputs along W per thread.
#define KD 3
#define KH 5
#define KW 7
#define PER_THREAD 4

__global__ void conv3d_357(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                           const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y,
                           int C, int D, int H, int W, int K,
                           int sd, int sh, int sw, int OD, int OH, int OW)
{
    int ow0 = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int od = blockIdx.z % OD;
    int k = (blockIdx.z / OD) % K;
    int n = blockIdx.z / (OD * K);
    if (oh >= OH || ow0 >= OW)
        return;

    float acc[PER_THREAD];
    float b = __bfloat162float(bias[k]);
    for (int j = 0; j < PER_THREAD; ++j)
        acc[j] = b;

    for (int c = 0; c < C; ++c) {
        for (int a = 0; a < KD; ++a) {
            for (int r = 0; r < KH; ++r) {
                size_t row = ((((size_t)n * C + c) * D + od * sd + a) * H + oh * sh + r) * W;
                size_t wrow = ((((size_t)k * C + c) * KD + a) * KH + r) * KW;
                #pragma unroll
                for (int s = 0; s < KW; ++s) {
                    float f = __bfloat162float(w[wrow + s]);
                    #pragma unroll
                    for (int j = 0; j < PER_THREAD; ++j) {
                        if (ow0 + j < OW)
                            acc[j] += f * __bfloat162float(x[row + (ow0 + j) * sw + s]);
                    }
                }
            }
        }
    }

    size_t o = ((((size_t)n * K + k) * OD + od) * OH + oh) * OW + ow0;
    for (int j = 0; j < PER_THREAD; ++j)
        if (ow0 + j < OW)
            y[o + j] = __float2bfloat16(acc[j]);
}

cudaError_t conv3d_357_forward(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* bias,
                               __nv_bfloat16* y, int N, int C, int D, int H, int W, int K,
                               int sd, int sh, int sw, cudaStream_t stream)
{
    int OD = (D - KD) / sd + 1;
    int OH = (H - KH) / sh + 1;
    int OW = (W - KW) / sw + 1;
    dim3 block(32, 4);
    dim3 grid((OW + 32 * PER_THREAD - 1) / (32 * PER_THREAD), (OH + 3) / 4, N * K * OD);
    conv3d_357<<<grid, block, 0, stream>>>(x, w, bias, y, C, D, H, W, K, sd, sh, sw, OD, OH, OW);
    return cudaGetLastError();
}
