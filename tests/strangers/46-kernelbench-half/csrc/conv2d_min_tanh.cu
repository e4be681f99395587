// fused Conv2d -> min over channels -> tanh -> tanh
// The conv output is never stored: each thread owns one pixel and goes through all filters.
#include "common.cuh"

template <typename T, int KS>
__global__ void conv_min_tanh_tanh(const T* __restrict__ X, const T* __restrict__ Wt,
                                   const T* __restrict__ Bias, T* __restrict__ Y,
                                   int C, int H, int W, int F, int OH, int OW, int pad, int dil)
{
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    int n  = blockIdx.z;
    if (ox >= OW || oy >= OH) return;

    float lowest = 3.4e38f;
    for (int f = 0; f < F; f++) {
        float acc = to_f(Bias[f]);
        for (int c = 0; c < C; c++) {
            #pragma unroll
            for (int ky = 0; ky < KS; ky++) {
                int iy = oy - pad + ky * dil;
                if (iy < 0 || iy >= H) continue;
                #pragma unroll
                for (int kx = 0; kx < KS; kx++) {
                    int ix = ox - pad + kx * dil;
                    if (ix < 0 || ix >= W) continue;
                    acc += to_f(X[((size_t)(n * C + c) * H + iy) * W + ix]) *
                           to_f(Wt[((f * C + c) * KS + ky) * KS + kx]);
                }
            }
        }
        lowest = acc < lowest ? acc : lowest;
    }
    Y[((size_t)n * OH + oy) * OW + ox] = T(tanhf(tanhf(lowest)));
}

void conv2d_min_tanh(const __half* x, const __half* w, const __half* bias, __half* y,
                     int N, int C, int H, int W, int F, int pad, int dil)
{
    int OH = H + 2 * pad - 2 * dil;
    int OW = W + 2 * pad - 2 * dil;
    dim3 block(32, 8);
    dim3 grid(CEIL_DIV(OW, block.x), CEIL_DIV(OH, block.y), N);
    conv_min_tanh_tanh<__half, 3><<<grid, block>>>(x, w, bias, y, C, H, W, F, OH, OW, pad, dil);
    CHECK_LAUNCH();
}
