// Depthwise 5x5 (same padding) followed by pointwise 1x1, bfloat16, NCHW.
#include <cuda_bf16.h>

namespace {

constexpr int kSide = 16;

template <int K>
__global__ void depthwise_tile(const __nv_bfloat16* __restrict__ in, const __nv_bfloat16* __restrict__ taps,
                               __nv_bfloat16* __restrict__ mid, int channels, int height, int width) {
    constexpr int R = K / 2;
    constexpr int HALO = kSide + 2 * R;
    __shared__ float tile[HALO][HALO];
    __shared__ float filt[K * K];

    const int plane = blockIdx.z;  // image * channels + channel
    const int channel = plane % channels;
    const int y0 = blockIdx.y * kSide, x0 = blockIdx.x * kSide;
    const int tid = threadIdx.y * kSide + threadIdx.x;
    const __nv_bfloat16* src = in + (size_t)plane * height * width;

    if (tid < K * K) filt[tid] = __bfloat162float(taps[channel * K * K + tid]);
    for (int i = tid; i < HALO * HALO; i += kSide * kSide) {
        const int yy = y0 + i / HALO - R;
        const int xx = x0 + i % HALO - R;
        const bool inside = yy >= 0 && yy < height && xx >= 0 && xx < width;
        tile[i / HALO][i % HALO] = inside ? __bfloat162float(src[yy * width + xx]) : 0.f;
    }
    __syncthreads();

    const int y = y0 + threadIdx.y, x = x0 + threadIdx.x;
    if (y < height && x < width) {
        float s = 0.f;
#pragma unroll
        for (int i = 0; i < K; ++i)
#pragma unroll
            for (int j = 0; j < K; ++j) s += filt[i * K + j] * tile[threadIdx.y + i][threadIdx.x + j];
        mid[(size_t)plane * height * width + y * width + x] = __float2bfloat16(s);
    }
}

// out[n][f][p] = sum_c weight[f][c] * mid[n][c][p]
__global__ void pointwise_tile(const __nv_bfloat16* __restrict__ mid, const __nv_bfloat16* __restrict__ weight,
                               __nv_bfloat16* __restrict__ out, int channels, int filters, int pixels) {
    __shared__ float ws[kSide][kSide];
    __shared__ float ms[kSide][kSide];
    const int n = blockIdx.z;
    const int f = blockIdx.y * kSide + threadIdx.y;
    const int p = blockIdx.x * kSide + threadIdx.x;
    const __nv_bfloat16* src = mid + (size_t)n * channels * pixels;
    float s = 0.f;
    for (int c0 = 0; c0 < channels; c0 += kSide) {
        const int cw = c0 + threadIdx.x, cm = c0 + threadIdx.y;
        ws[threadIdx.y][threadIdx.x] = (f < filters && cw < channels) ? __bfloat162float(weight[f * channels + cw]) : 0.f;
        ms[threadIdx.y][threadIdx.x] = (cm < channels && p < pixels) ? __bfloat162float(src[(size_t)cm * pixels + p]) : 0.f;
        __syncthreads();
        for (int c = 0; c < kSide; ++c) s += ws[threadIdx.y][c] * ms[c][threadIdx.x];
        __syncthreads();
    }
    if (f < filters && p < pixels) out[((size_t)n * filters + f) * pixels + p] = __float2bfloat16(s);
}

inline int up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void separable_conv5(__nv_bfloat16* out, __nv_bfloat16* mid, const __nv_bfloat16* in, const __nv_bfloat16* taps,
                     const __nv_bfloat16* weight, int images, int channels, int filters, int height, int width) {
    const dim3 threads(kSide, kSide);
    depthwise_tile<5><<<dim3(up(width, kSide), up(height, kSide), images * channels), threads>>>(in, taps, mid, channels,
                                                                                                height, width);
    pointwise_tile<<<dim3(up(height * width, kSide), up(filters, kSide), images), threads>>>(mid, weight, out, channels,
                                                                                            filters, height * width);
}
