// ConvTranspose2d(k=3, s=2, p=1, output_padding=1) -> +bias -> clamp(0,1) -> *s -> clamp(0,1) -> /s
#include <cuda_fp16.h>

__device__ __forceinline__ float clamp01(float v) { return fminf(fmaxf(v, 0.0f), 1.0f); }

// gather form: output (oy, ox) receives input (iy, ix) through tap (r, s) when oy = 2*iy - 1 + r
__global__ void convt_kernel(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ conv_bias,
                             const __half* __restrict__ bias, __half* __restrict__ out, int Cin, int H, int W, int Cout,
                             float scaling)
{
    const int OH = 2 * H, OW = 2 * W;
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = blockIdx.z / Cout, co = blockIdx.z % Cout;
    if (ox >= OW || oy >= OH) return;

    float acc = __half2float(conv_bias[co]);
    for (int ci = 0; ci < Cin; ++ci) {
        for (int r = 0; r < 3; ++r) {
            const int ty = oy + 1 - r;
            if (ty < 0 || (ty & 1)) continue;
            const int iy = ty / 2;
            if (iy >= H) continue;
            for (int s = 0; s < 3; ++s) {
                const int tx = ox + 1 - s;
                if (tx < 0 || (tx & 1)) continue;
                const int ix = tx / 2;
                if (ix >= W) continue;
                acc += __half2float(x[(((size_t)n * Cin + ci) * H + iy) * W + ix]) *
                       __half2float(w[(((size_t)ci * Cout + co) * 3 + r) * 3 + s]);
            }
        }
    }
    acc = clamp01(acc + __half2float(bias[co]));
    acc = clamp01(acc * scaling);
    out[(((size_t)n * Cout + co) * OH + oy) * OW + ox] = __float2half(acc / scaling);
}

void convt2d_bias_clamp_scale(const __half* x, const __half* w, const __half* conv_bias, const __half* bias, __half* out,
                              int N, int Cin, int H, int W, int Cout, float scaling)
{
    dim3 block(32, 4);
    dim3 grid((2 * W + 31) / 32, (2 * H + 3) / 4, N * Cout);
    convt_kernel<<<grid, block>>>(x, w, conv_bias, bias, out, Cin, H, W, Cout, scaling);
}
