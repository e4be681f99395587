// ConvTranspose2d, everything asymmetric, with groups. Gather form: each thread owns one output pixel.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define X4(p, n, c, h, w, C, H, W) ((p)[(((size_t)(n) * (C) + (c)) * (H) + (h)) * (W) + (w)])

__global__ void conv_t2d_grouped(const half* __restrict__ in, const half* __restrict__ weight, half* __restrict__ out, int Cin,
                                 int H, int W, int Cout, int KH, int KW, int sh, int sw, int ph, int pw, int dh, int dw,
                                 int groups, int OH, int OW) {
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z / Cout;
    int oc = blockIdx.z % Cout;
    if (ox >= OW || oy >= OH) return;

    const int cin_g = Cin / groups;
    const int cout_g = Cout / groups;
    const int g = oc / cout_g;
    const int ocg = oc % cout_g;

    float v = 0.f;
    for (int c = 0; c < cin_g; ++c) {
        const int ic = g * cin_g + c;
        for (int ky = 0; ky < KH; ++ky) {
            int ty = oy + ph - ky * dh;
            if (ty < 0 || ty % sh != 0) continue;
            int iy = ty / sh;
            if (iy >= H) continue;
            for (int kx = 0; kx < KW; ++kx) {
                int tx = ox + pw - kx * dw;
                if (tx < 0 || tx % sw != 0) continue;
                int ix = tx / sw;
                if (ix >= W) continue;
                v += __half2float(X4(in, n, ic, iy, ix, Cin, H, W)) * __half2float(X4(weight, ic, ocg, ky, kx, cout_g, KH, KW));
            }
        }
    }
    X4(out, n, oc, oy, ox, Cout, OH, OW) = __float2half(v);
}

void conv_transpose2d(const half* in, const half* weight, half* out, int N, int Cin, int H, int W, int Cout, int KH, int KW,
                      int sh, int sw, int ph, int pw, int dh, int dw, int groups, cudaStream_t stream = 0) {
    int OH = (H - 1) * sh - 2 * ph + dh * (KH - 1) + 1;
    int OW = (W - 1) * sw - 2 * pw + dw * (KW - 1) + 1;
    dim3 block(32, 8);
    dim3 grid(CEIL_DIV(OW, 32), CEIL_DIV(OH, 8), N * Cout);
    conv_t2d_grouped<<<grid, block, 0, stream>>>(in, weight, out, Cin, H, W, Cout, KH, KW, sh, sw, ph, pw, dh, dw, groups, OH, OW);
}
