#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                        \
    do {                                                                                        \
        cudaError_t status_ = (call);                                                           \
        if (status_ != cudaSuccess) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
            exit(EXIT_FAILURE);                                                                 \
        }                                                                                       \
    } while (0)

// nn.Conv2d(C, F, (KH, KW), stride=(SH, SW), padding=(PH, PW), bias=False), NCHW
__global__ void Conv2dAsym(const half* input, const half* filter, half* output, int C, int H, int W, int F, int KH,
                           int KW, int SH, int SW, int PH, int PW, int OH, int OW)
{
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    const int f = blockIdx.z % F;
    const int n = blockIdx.z / F;
    if (ow >= OW || oh >= OH) return;

    float value = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int kh = 0; kh < KH; ++kh) {
            const int ih = oh * SH - PH + kh;
            if (ih < 0 || ih >= H) continue;
            for (int kw = 0; kw < KW; ++kw) {
                const int iw = ow * SW - PW + kw;
                if (iw < 0 || iw >= W) continue;
                value += __half2float(input[((n * C + c) * H + ih) * W + iw]) *
                         __half2float(filter[((f * C + c) * KH + kh) * KW + kw]);
            }
        }
    }
    output[((n * F + f) * OH + oh) * OW + ow] = __float2half(value);
}

void conv2d_asym(const half* input, const half* filter, half* output, int N, int C, int H, int W, int F, int KH, int KW,
                 int SH, int SW, int PH, int PW)
{
    const int OH = (H + 2 * PH - KH) / SH + 1;
    const int OW = (W + 2 * PW - KW) / SW + 1;
    dim3 threads(32, 4, 1);
    dim3 blocks((OW + threads.x - 1) / threads.x, (OH + threads.y - 1) / threads.y, N * F);
    Conv2dAsym<<<blocks, threads>>>(input, filter, output, C, H, W, F, KH, KW, SH, SW, PH, PW, OH, OW);
    CUDA_CHECK(cudaGetLastError());
}
