// 3D convolution with an asymmetric 3x5x7 kernel, no padding, stride 1.
// Filters of four output channels are kept in shared memory, every thread
// computes the same voxel for these four channels.
#include <cuda_runtime.h>

namespace {

constexpr int kOutPerThread = 4;

template <int KD, int KH, int KW>
__global__ void conv3d_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                              float* __restrict__ y, int C, int D, int H, int W, int F) {
    constexpr int KVOL = KD * KH * KW;
    __shared__ float filt[kOutPerThread][KVOL];

    const int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;
    const int vol = OD * OH * OW;
    const int pos = blockIdx.x * blockDim.x + threadIdx.x;
    const int f0 = blockIdx.y * kOutPerThread;
    const int n = blockIdx.z;
    const bool active = pos < vol;
    const int ox = pos % OW;
    const int oy = (pos / OW) % OH;
    const int oz = pos / (OW * OH);

    float acc[kOutPerThread] = {0.f, 0.f, 0.f, 0.f};

    for (int c = 0; c < C; ++c) {
        for (int i = threadIdx.x; i < kOutPerThread * KVOL; i += blockDim.x) {
            const int f = i / KVOL, k = i % KVOL;
            filt[f][k] = f0 + f < F ? w[((size_t)(f0 + f) * C + c) * KVOL + k] : 0.f;
        }
        __syncthreads();
        if (active) {
            const float* src = x + ((size_t)n * C + c) * D * H * W;
            for (int kd = 0; kd < KD; ++kd)
                for (int kh = 0; kh < KH; ++kh) {
                    const float* line = src + ((size_t)(oz + kd) * H + oy + kh) * W + ox;
#pragma unroll
                    for (int kw = 0; kw < KW; ++kw) {
                        const float v = line[kw];
                        const int k = (kd * KH + kh) * KW + kw;
#pragma unroll
                        for (int f = 0; f < kOutPerThread; ++f) acc[f] = fmaf(v, filt[f][k], acc[f]);
                    }
                }
        }
        __syncthreads();
    }

    if (active) {
        for (int f = 0; f < kOutPerThread; ++f)
            if (f0 + f < F) y[((size_t)n * F + f0 + f) * vol + pos] = acc[f] + b[f0 + f];
    }
}

}  // namespace

void conv3d_3x5x7(const float* x, const float* w, const float* b, float* y, int N, int C, int D, int H, int W, int F,
                  cudaStream_t stream = nullptr) {
    const int vol = (D - 2) * (H - 4) * (W - 6);
    dim3 grid((vol + 127) / 128, (F + kOutPerThread - 1) / kOutPerThread, N);
    conv3d_kernel<3, 5, 7><<<grid, 128, 0, stream>>>(x, w, b, y, C, D, H, W, F);
}
