// 2026-02: volumes from the light sheet are much coarser along depth, so the window, the stride and the dilation along
// depth are not those of the plane.   x: [N][C][D][H][W]   w: [K][C][kd][kh][kw]   y: [N][K][OD][OH][OW], all bf16.
// No padding along depth, `pad` zeros around every plane.  First version, one thread per output voxel.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;

struct Geometry {
    int C, D, H, W;
    int K, OD, OH, OW;
    int kd, kh, kw;
    int stride_d, stride_p;
    int dil_d, dil_p;
    int pad;
};

__global__ void conv3d_kernel(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, Geometry g)
{
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    if (ow >= g.OW || oh >= g.OH) return;

    const int od = blockIdx.z % g.OD;
    const int k = blockIdx.z / g.OD % g.K;
    const int n = blockIdx.z / g.OD / g.K;

    float acc = __bfloat162float(bias[k]);
    for (int c = 0; c < g.C; c++) {
        const bf16 *volume = x + ((size_t)n * g.C + c) * g.D * g.H * g.W;
        const bf16 *window = w + ((size_t)k * g.C + c) * g.kd * g.kh * g.kw;
        for (int a = 0; a < g.kd; a++) {
            const int d = od * g.stride_d + a * g.dil_d;
            for (int b = 0; b < g.kh; b++) {
                const int h = oh * g.stride_p - g.pad + b * g.dil_p;
                if (h < 0 || h >= g.H) continue;
                for (int e = 0; e < g.kw; e++) {
                    const int v = ow * g.stride_p - g.pad + e * g.dil_p;
                    if (v < 0 || v >= g.W) continue;
                    acc += __bfloat162float(volume[((size_t)d * g.H + h) * g.W + v]) *
                           __bfloat162float(window[(a * g.kh + b) * g.kw + e]);
                }
            }
        }
    }
    y[((size_t)blockIdx.z * g.OH + oh) * g.OW + ow] = __float2bfloat16(acc);
}

cudaError_t conv3d_aniso(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int N, int C, int D, int H, int W, int K,
                         int kd, int kh, int kw, int stride_d, int stride_p, int dil_d, int dil_p, int pad)
{
    const int free_d = D - dil_d * (kd - 1) - 1;
    const int free_h = H + 2 * pad - dil_p * (kh - 1) - 1;
    const int free_w = W + 2 * pad - dil_p * (kw - 1) - 1;
    if (free_d < 0 || free_h < 0 || free_w < 0) return cudaErrorInvalidValue;

    Geometry g;
    g.C = C; g.D = D; g.H = H; g.W = W;
    g.K = K;
    g.OD = free_d / stride_d + 1;
    g.OH = free_h / stride_p + 1;
    g.OW = free_w / stride_p + 1;
    g.kd = kd; g.kh = kh; g.kw = kw;
    g.stride_d = stride_d; g.stride_p = stride_p;
    g.dil_d = dil_d; g.dil_p = dil_p;
    g.pad = pad;
    if ((long long)N * K * g.OD > 65535) return cudaErrorInvalidConfiguration;

    dim3 block(32, 4);
    dim3 grid((g.OW + block.x - 1) / block.x, (g.OH + block.y - 1) / block.y, N * K * g.OD);
    conv3d_kernel<<<grid, block>>>(x, w, bias, y, g);
    return cudaGetLastError();
}
