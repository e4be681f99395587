#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace {

constexpr int kKernel = 3;
constexpr int kStride = 2;
constexpr int kPad = 1;
constexpr int kOutPad = 1;
constexpr int kThreads = 256;

// 3x3, stride 2: doubles height and width.
template <typename T>
__global__ __launch_bounds__(kThreads) void upsample_conv(const T* __restrict__ src, const T* __restrict__ ker,
                                                          T* __restrict__ dst,
                                                          int C, int H, int W, int K) {
    const int OH = (H - 1) * kStride - 2 * kPad + kKernel + kOutPad;
    const int OW = (W - 1) * kStride - 2 * kPad + kKernel + kOutPad;
    const int pix = blockIdx.x * kThreads + threadIdx.x;
    if (pix >= OH * OW) return;
    const int oy = pix / OW;
    const int ox = pix - oy * OW;
    const int k = blockIdx.y;
    const int n = blockIdx.z;

    float acc = 0.f;
#pragma unroll
    for (int r = 0; r < kKernel; ++r) {
        const int ty = oy + kPad - r;
        if (ty < 0 || (ty & 1) || ty / 2 >= H) continue;
#pragma unroll
        for (int s = 0; s < kKernel; ++s) {
            const int tx = ox + kPad - s;
            if (tx < 0 || (tx & 1) || tx / 2 >= W) continue;
            const T* p = src + ((size_t)n * C * H + ty / 2) * W + tx / 2;
            const T* q = ker + (k * kKernel + r) * kKernel + s;
            for (int c = 0; c < C; ++c) {
                acc += static_cast<float>(p[(size_t)c * H * W]) * static_cast<float>(q[c * K * kKernel * kKernel]);
            }
        }
    }
    dst[((size_t)n * K + k) * OH * OW + pix] = T(acc);
}

}  // namespace

void conv_transpose2d_up2(const __nv_bfloat16* src, const __nv_bfloat16* ker, __nv_bfloat16* dst,
                          int N, int C, int H, int W, int K) {
    const int pixels = (2 * H) * (2 * W);
    dim3 grid((pixels + kThreads - 1) / kThreads, K, N);
    upsample_conv<__nv_bfloat16><<<grid, kThreads>>>(src, ker, dst, C, H, W, K);
}
