// Quantized linear layer: int8 x int8 -> int32, + bias, ReLU, requantize per output channel to int8.
#include <cuda_runtime.h>
#include <cstdint>

namespace quant {

constexpr int kTile = 64;   // rows and columns per block
constexpr int kWords = 8;   // 32 int8 values of K per step
constexpr int kThreads = 256;

__device__ __forceinline__ int8_t requantize(int acc, int bias, float scale) {
    int v = acc + bias;
    v = v > 0 ? v : 0;
    const int q = __float2int_rn(static_cast<float>(v) * scale);
    return static_cast<int8_t>(q > 127 ? 127 : q);
}

__global__ void __launch_bounds__(kThreads) linear_dp4a(const int8_t* __restrict__ x, const int8_t* __restrict__ w,
                                                        const int32_t* __restrict__ bias, const float* __restrict__ scale,
                                                        int8_t* __restrict__ y, int M, int N, int K) {
    __shared__ int xs[kWords][kTile + 1];
    __shared__ int ws[kWords][kTile + 1];
    const int words = K / 4;
    const int* xw = reinterpret_cast<const int*>(x);
    const int* ww = reinterpret_cast<const int*>(w);
    const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;

    int acc[4][4] = {};
    for (int k0 = 0; k0 < words; k0 += kWords) {
        for (int i = threadIdx.x; i < kTile * kWords; i += kThreads) {
            const int r = i / kWords, k = i % kWords;
            xs[k][r] = m0 + r < M && k0 + k < words ? xw[static_cast<size_t>(m0 + r) * words + k0 + k] : 0;
            ws[k][r] = n0 + r < N && k0 + k < words ? ww[static_cast<size_t>(n0 + r) * words + k0 + k] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kWords; ++k) {
            int a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                a[i] = xs[k][ty + 16 * i];
                b[i] = ws[k][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] = __dp4a(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int m = m0 + ty + 16 * i, n = n0 + tx + 16 * j;
            if (m < M && n < N) y[static_cast<size_t>(m) * N + n] = requantize(acc[i][j], bias[n], scale[n]);
        }
}

}  // namespace quant

// K must be a multiple of 4, rows of x and w are read as 32-bit words.
void int8_linear(const int8_t* x, const int8_t* w, const int32_t* bias, const float* scale, int8_t* y, int M, int N, int K,
                 cudaStream_t stream = nullptr) {
    dim3 grid((N + quant::kTile - 1) / quant::kTile, (M + quant::kTile - 1) / quant::kTile);
    quant::linear_dp4a<<<grid, quant::kThreads, 0, stream>>>(x, w, bias, scale, y, M, N, K);
}
