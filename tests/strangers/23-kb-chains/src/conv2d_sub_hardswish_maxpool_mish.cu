#include <cuda_runtime.h>
#include "activations.cuh"

#define BX 32
#define BY 8

// 3x3 valid convolution; subtract a constant, HardSwish
__global__ void conv_sub_hardswish(const float* __restrict__ x, const float* __restrict__ w,
                                   const float* __restrict__ b, float* __restrict__ tmp,
                                   int C, int H, int W, int K, int OH, int OW, float sub)
{
    // all filters of this block's output channel, up to MAXC channels at a time
    const int MAXC = 16;
    __shared__ float ws[MAXC * 9];

    int ox = blockIdx.x * BX + threadIdx.x;
    int oy = blockIdx.y * BY + threadIdx.y;
    int k = blockIdx.z % K;
    int n = blockIdx.z / K;
    int tid = threadIdx.y * BX + threadIdx.x;
    bool inside = ox < OW && oy < OH;

    float acc = b[k];
    for (int c0 = 0; c0 < C; c0 += MAXC) {
        int nc = C - c0 < MAXC ? C - c0 : MAXC;
        for (int i = tid; i < nc * 9; i += BX * BY)
            ws[i] = w[(k * C + c0) * 9 + i];
        __syncthreads();
        if (inside) {
            for (int c = 0; c < nc; c++) {
                const float* xp = x + ((size_t)(n * C + c0 + c) * H + oy) * W + ox;
                for (int r = 0; r < 3; r++)
                    for (int s = 0; s < 3; s++)
                        acc += xp[r * W + s] * ws[c * 9 + r * 3 + s];
            }
        }
        __syncthreads();
    }

    if (inside)
        tmp[((size_t)blockIdx.z * OH + oy) * OW + ox] = act_hardswish(acc - sub);
}

__global__ void maxpool_mish(const float* __restrict__ tmp, float* __restrict__ y,
                             int planes, int H, int W, int pool, int PH, int PW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * PH * PW) return;
    int px = i % PW;
    int py = (i / PW) % PH;
    int plane = i / (PW * PH);

    const float* p = tmp + ((size_t)plane * H + py * pool) * W + px * pool;
    float m = p[0];
    for (int r = 0; r < pool; r++)
        for (int s = 0; s < pool; s++)
            m = fmaxf(m, p[r * W + s]);
    y[i] = act_mish(m);
}

extern "C" void conv2d_sub_hardswish_maxpool_mish(const float* x, const float* w, const float* b, float* tmp, float* y,
                                                  int N, int C, int H, int W, int K, int pool, float sub)
{
    int OH = H - 2, OW = W - 2;
    dim3 threads(BX, BY);
    dim3 blocks(grid_for(OW, BX), grid_for(OH, BY), N * K);
    conv_sub_hardswish<<<blocks, threads>>>(x, w, b, tmp, C, H, W, K, OH, OW, sub);

    int PH = OH / pool, PW = OW / pool;
    maxpool_mish<<<grid_for((long long)N * K * PH * PW, 256), 256>>>(tmp, y, N * K, OH, OW, pool, PH, PW);
}
