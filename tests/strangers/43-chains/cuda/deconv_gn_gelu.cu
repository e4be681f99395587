// ConvTranspose2d(Ci, Co, 4, stride=2, padding=1) -> GroupNorm(G) -> GELU: decoder stage of a small diffusion model.
#include <cuda_fp16.h>

namespace decoder {

constexpr int KS = 4;
constexpr int STRIDE = 2;
constexpr int PAD = 1;

__global__ void up2x(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ bias,
                     float* __restrict__ y, int ci_count, int co_count, int h, int wd) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    const int co = blockIdx.z % co_count;
    const int n = blockIdx.z / co_count;
    const int oh = h * STRIDE, ow = wd * STRIDE;
    if (ox >= ow || oy >= oh) return;

    float sum = __half2float(bias[co]);
    for (int ky = 0; ky < KS; ++ky) {
        const int ty = oy + PAD - ky;
        if (ty < 0 || (ty & 1) || ty / STRIDE >= h) continue;
        for (int kx = 0; kx < KS; ++kx) {
            const int tx = ox + PAD - kx;
            if (tx < 0 || (tx & 1) || tx / STRIDE >= wd) continue;
            const half* px = x + ((size_t)n * ci_count * h + ty / STRIDE) * wd + tx / STRIDE;
            const half* pw = w + (size_t)co * KS * KS + ky * KS + kx;
            for (int ci = 0; ci < ci_count; ++ci)
                sum += __half2float(px[(size_t)ci * h * wd]) * __half2float(pw[(size_t)ci * co_count * KS * KS]);
        }
    }
    y[(((size_t)n * co_count + co) * oh + oy) * ow + ox] = sum;
}

// A block per (image, group); a group is contiguous. stats[2*i] = mean, stats[2*i+1] = 1/std.
__global__ void group_stats(const float* __restrict__ y, float* __restrict__ stats, int group_elems, float eps) {
    __shared__ float sh_sum[512];
    __shared__ float sh_sq[512];
    const float* p = y + (size_t)blockIdx.x * group_elems;
    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < group_elems; i += blockDim.x) {
        const float v = p[i];
        s += v;
        q += v * v;
    }
    sh_sum[threadIdx.x] = s;
    sh_sq[threadIdx.x] = q;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            sh_sum[threadIdx.x] += sh_sum[threadIdx.x + step];
            sh_sq[threadIdx.x] += sh_sq[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float mean = sh_sum[0] / group_elems;
        const float var = fmaxf(sh_sq[0] / group_elems - mean * mean, 0.f);
        stats[2 * blockIdx.x] = mean;
        stats[2 * blockIdx.x + 1] = rsqrtf(var + eps);
    }
}

__global__ void norm_gelu(const float* __restrict__ y, const float* __restrict__ stats, const half* __restrict__ gamma,
                          const half* __restrict__ beta, half* __restrict__ out, int channels, int groups, int plane) {
    const int nc = blockIdx.y;
    const int n = nc / channels, c = nc % channels;
    const int ng = n * groups + c / (channels / groups);
    const float scale = __half2float(gamma[c]) * stats[2 * ng + 1];
    const float shift = __half2float(beta[c]) - stats[2 * ng] * scale;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < plane; i += gridDim.x * blockDim.x) {
        const float v = y[(size_t)nc * plane + i] * scale + shift;
        out[(size_t)nc * plane + i] = __float2half(0.5f * v * (1.f + erff(v * 0.70710678f)));
    }
}

}  // namespace decoder

void decoder_stage(const half* x, const half* w, const half* bias, const half* gamma, const half* beta, float* y,
                   float* stats, half* out, int N, int Ci, int Co, int G, int H, int W, float eps, cudaStream_t stream) {
    const int OH = 2 * H, OW = 2 * W;
    dim3 block(32, 8);
    decoder::up2x<<<dim3((OW + 31) / 32, (OH + 7) / 8, N * Co), block, 0, stream>>>(x, w, bias, y, Ci, Co, H, W);
    decoder::group_stats<<<N * G, 512, 0, stream>>>(y, stats, Co / G * OH * OW, eps);
    decoder::norm_gelu<<<dim3((OH * OW + 1023) / 1024, N * Co), 256, 0, stream>>>(y, stats, gamma, beta, out, Co, G,
                                                                                OH * OW);
}
