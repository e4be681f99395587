// ProGAN generator half-block: nearest 2x upsampling -> 3x3 conv (zero padding 1) + bias -> leaky relu 0.2 -> pixel norm
// half storage, float math, NCHW

#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TW = 16;      // pixels per block, both ways
constexpr int COB = 8;      // output channels per thread

__global__ void upsample2x(const __half* __restrict__ in, __half* __restrict__ up, int H, int W)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = blockIdx.z;
    if (x < 2 * W && y < 2 * H)
        up[((size_t)plane * 2 * H + y) * 2 * W + x] = in[((size_t)plane * H + y / 2) * W + x / 2];
}

__global__ __launch_bounds__(TW * TW) void conv3x3_lrelu(const __half* __restrict__ up, const __half* __restrict__ weight,
                                                         const __half* __restrict__ bias, float* __restrict__ conv,
                                                         int Ci, int Co, int H, int W)
{
    __shared__ float tile[TW + 2][TW + 2];
    __shared__ float wsh[COB][9];

    const int groups = (Co + COB - 1) / COB;
    const int n = blockIdx.z / groups;
    const int co0 = blockIdx.z % groups * COB;
    const int x0 = blockIdx.x * TW, y0 = blockIdx.y * TW;
    const int tid = threadIdx.y * TW + threadIdx.x;

    float acc[COB] = {};
    for (int ci = 0; ci < Ci; ++ci)
    {
        const __half* src = up + ((size_t)n * Ci + ci) * H * W;
        for (int i = tid; i < (TW + 2) * (TW + 2); i += TW * TW)
        {
            const int r = i / (TW + 2), c = i % (TW + 2);
            const int y = y0 + r - 1, x = x0 + c - 1;
            tile[r][c] = (y >= 0 && y < H && x >= 0 && x < W) ? __half2float(src[(size_t)y * W + x]) : 0.f;
        }
        if (tid < COB * 9)
        {
            const int co = co0 + tid / 9;
            wsh[tid / 9][tid % 9] = co < Co ? __half2float(weight[((size_t)co * Ci + ci) * 9 + tid % 9]) : 0.f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < 9; ++k)
        {
            const float v = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
#pragma unroll
            for (int o = 0; o < COB; ++o) acc[o] += v * wsh[o][k];
        }
        __syncthreads();
    }

    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= W || y >= H) return;
    for (int o = 0; o < COB && co0 + o < Co; ++o)
    {
        float v = acc[o] + __half2float(bias[co0 + o]);
        v = v > 0.f ? v : 0.2f * v;
        conv[(((size_t)n * Co + co0 + o) * H + y) * W + x] = v;
    }
}

// x / sqrt(mean over channels of x^2 + eps)
__global__ void pixel_norm(const float* __restrict__ conv, __half* __restrict__ out, int Co, int HW, float eps)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= HW) return;
    const size_t base = (size_t)blockIdx.y * Co * HW + p;

    float ss = 0.f;
    for (int c = 0; c < Co; ++c)
    {
        const float v = conv[base + (size_t)c * HW];
        ss += v * v;
    }
    const float r = rsqrtf(ss / Co + eps);
    for (int c = 0; c < Co; ++c)
        out[base + (size_t)c * HW] = __float2half(conv[base + (size_t)c * HW] * r);
}

extern "C" cudaError_t progan_upblock(const __half* in, const __half* weight, const __half* bias, __half* up, float* conv,
                                      __half* out, int N, int Ci, int Co, int H, int W, float eps, cudaStream_t stream)
{
    const int H2 = 2 * H, W2 = 2 * W;
    const dim3 block(TW, TW);
    const unsigned gx = (W2 + TW - 1) / TW, gy = (H2 + TW - 1) / TW;

    upsample2x<<<dim3(gx, gy, N * Ci), block, 0, stream>>>(in, up, H, W);
    conv3x3_lrelu<<<dim3(gx, gy, N * ((Co + COB - 1) / COB)), block, 0, stream>>>(up, weight, bias, conv, Ci, Co, H2, W2);
    pixel_norm<<<dim3((H2 * W2 + 255) / 256, N), 256, 0, stream>>>(conv, out, Co, H2 * W2, eps);
    return cudaGetLastError();
}
