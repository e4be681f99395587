#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kb {

// GroupNorm over [N, C, HW]; HW must be even, so that a row is a whole number of half2.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
group_norm(const __half2* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
           __half2* __restrict__ y, int C, int HW2, int G, float eps) {
    const int g = blockIdx.x % G;
    const int n = blockIdx.x / G;
    const int cpg = C / G;
    const size_t base = ((size_t)n * C + (size_t)g * cpg) * HW2;
    const int count = cpg * HW2;

    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const float2 v = __half22float2(x[base + i]);
        s += v.x + v.y;
        q += v.x * v.x + v.y * v.y;
    }

    __shared__ float ss[THREADS];
    __shared__ float sq[THREADS];
    ss[threadIdx.x] = s;
    sq[threadIdx.x] = q;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            ss[threadIdx.x] += ss[threadIdx.x + half];
            sq[threadIdx.x] += sq[threadIdx.x + half];
        }
        __syncthreads();
    }

    const float inv_count = 1.f / (2.f * count);
    const float mean = ss[0] * inv_count;
    const float var = fmaxf(sq[0] * inv_count - mean * mean, 0.f);
    const float rstd = rsqrtf(var + eps);

    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int c = g * cpg + i / HW2;
        const float w = __half2float(gamma[c]) * rstd;
        const float b = __half2float(beta[c]) - mean * w;
        const float2 v = __half22float2(x[base + i]);
        y[base + i] = __floats2half2_rn(v.x * w + b, v.y * w + b);
    }
}

}  // namespace kb

void group_norm_forward(const __half* x, const __half* gamma, const __half* beta, __half* y,
                        int N, int C, int HW, int G, float eps) {
    constexpr int kThreads = 512;
    kb::group_norm<kThreads><<<N * G, kThreads>>>(reinterpret_cast<const __half2*>(x), gamma, beta,
                                                  reinterpret_cast<__half2*>(y), C, HW / 2, G, eps);
}
