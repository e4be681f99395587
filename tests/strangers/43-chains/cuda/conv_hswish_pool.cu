// conv 3x3 (pad 1) -> + bias -> hardswish -> maxpool 2x2, fp16 NCHW
#include <cuda_fp16.h>

#define IDX4(a, b, c, d, B, C, D) ((((size_t)(a) * (B) + (b)) * (C) + (c)) * (D) + (d))
#define DIV_UP(a, b) (((a) + (b)-1) / (b))

__global__ void k_conv3x3(const __half* x, const __half* w, __half* t, int C, int F, int H, int W) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    int f = blockIdx.z % F, n = blockIdx.z / F;
    if (px >= W || py >= H) return;
    float s = 0.f;
    for (int c = 0; c < C; c++)
        for (int i = -1; i <= 1; i++)
            for (int j = -1; j <= 1; j++) {
                int yy = py + i, xx = px + j;
                if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                    s += __half2float(x[IDX4(n, c, yy, xx, C, H, W)]) * __half2float(w[IDX4(f, c, i + 1, j + 1, C, 3, 3)]);
            }
    t[IDX4(n, f, py, px, F, H, W)] = __float2half(s);
}

__global__ void k_bias_hswish(__half* t, const __half* bias, int F, int HW, int total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        float v = __half2float(t[i]) + __half2float(bias[(i / HW) % F]);
        t[i] = __float2half(v * fminf(fmaxf(v + 3.f, 0.f), 6.f) * (1.f / 6.f));
    }
}

__global__ void k_maxpool2(const __half* t, __half* out, int H, int W, int total) {
    int OH = H / 2, OW = W / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int ow = i % OW, oh = (i / OW) % OH, nf = i / (OW * OH);
    const __half* p = t + ((size_t)nf * H + 2 * oh) * W + 2 * ow;
    float a = fmaxf(__half2float(p[0]), __half2float(p[1]));
    float b = fmaxf(__half2float(p[W]), __half2float(p[W + 1]));
    out[i] = __float2half(fmaxf(a, b));
}

void conv_hardswish_maxpool(const __half* x, const __half* w, const __half* bias, __half* t, __half* out, int N, int C,
                            int F, int H, int W) {
    dim3 b(16, 8);
    k_conv3x3<<<dim3(DIV_UP(W, 16), DIV_UP(H, 8), N * F), b>>>(x, w, t, C, F, H, W);
    int total = N * F * H * W;
    int grid = DIV_UP(total, 256);
    if (grid > 4096) grid = 4096;
    k_bias_hswish<<<grid, 256>>>(t, bias, F, H * W, total);
    int pooled = N * F * (H / 2) * (W / 2);
    k_maxpool2<<<DIV_UP(pooled, 256), 256>>>(t, out, H, W, pooled);
}
