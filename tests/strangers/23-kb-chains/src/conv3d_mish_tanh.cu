#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace chain {

constexpr int kThreads = 128;

template <int KS>
__global__ void conv3d(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ b,
                       __half* __restrict__ y, int C, int D, int H, int W, int K, int OD, int OH, int OW) {
    const int pos = blockIdx.x * kThreads + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    const int volume = OD * OH * OW;
    if (pos >= volume) return;

    const int ow = pos % OW;
    const int oh = pos / OW % OH;
    const int od = pos / (OW * OH);

    float acc = __half2float(b[k]);
    const __half* wp = w + (size_t)k * C * KS * KS * KS;
    for (int c = 0; c < C; ++c) {
        const __half* xp = x + (((size_t)(n * C + c) * D + od) * H + oh) * W + ow;
#pragma unroll
        for (int i = 0; i < KS; ++i)
#pragma unroll
            for (int j = 0; j < KS; ++j)
#pragma unroll
                for (int l = 0; l < KS; ++l)
                    acc = fmaf(__half2float(xp[(i * H + j) * W + l]), __half2float(*wp++), acc);
    }
    y[((size_t)n * K + k) * volume + pos] = __float2half(acc);
}

struct Mish {
    static __device__ __forceinline__ float apply(float v) {
        const float sp = v > 20.f ? v : log1pf(expf(v));
        return v * tanhf(sp);
    }
};

struct Tanh {
    static __device__ __forceinline__ float apply(float v) { return tanhf(v); }
};

template <typename First, typename Second>
__global__ void activate(const __half* __restrict__ in, __half* __restrict__ out, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = __float2half(Second::apply(First::apply(__half2float(in[i]))));
}

}  // namespace chain

void conv3d_mish_tanh(const __half* x, const __half* w, const __half* b, __half* tmp, __half* y,
                      int N, int C, int D, int H, int W, int K) {
    constexpr int KS = 3;
    const int OD = D - KS + 1, OH = H - KS + 1, OW = W - KS + 1;
    dim3 grid((OD * OH * OW + chain::kThreads - 1) / chain::kThreads, K, N);
    chain::conv3d<KS><<<grid, chain::kThreads>>>(x, w, b, tmp, C, D, H, W, K, OD, OH, OW);

    const size_t n = (size_t)N * K * OD * OH * OW;
    const size_t blocks = (n + 255) / 256;
    chain::activate<chain::Mish, chain::Tanh><<<blocks < 2048 ? (int)blocks : 2048, 256>>>(tmp, y, n);
}
