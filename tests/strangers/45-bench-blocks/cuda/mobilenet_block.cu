// MobileNetV1 unit: depthwise 3x3 -> BN -> ReLU -> pointwise 1x1 -> BN -> ReLU6 (BN folded to scale and shift)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define DW_TILE 16

__global__ void depthwise3x3_bn_relu(const half* __restrict__ x, const half* __restrict__ k, const float* __restrict__ scale,
                                     const float* __restrict__ shift, half* __restrict__ y, int C, int H, int W) {
    __shared__ float tile[DW_TILE + 2][DW_TILE + 2];
    const int nc = blockIdx.z;
    const int c = nc % C;
    const int x0 = blockIdx.x * DW_TILE, y0 = blockIdx.y * DW_TILE;
    const half* src = x + (size_t)nc * H * W;

    for (int i = threadIdx.y * DW_TILE + threadIdx.x; i < (DW_TILE + 2) * (DW_TILE + 2); i += DW_TILE * DW_TILE) {
        const int ty = i / (DW_TILE + 2), tx = i % (DW_TILE + 2);
        const int gy = y0 + ty - 1, gx = x0 + tx - 1;
        tile[ty][tx] = (gy >= 0 && gy < H && gx >= 0 && gx < W) ? __half2float(src[gy * W + gx]) : 0.f;
    }
    __syncthreads();

    const int ox = x0 + threadIdx.x, oy = y0 + threadIdx.y;
    if (ox >= W || oy >= H) return;
    float v = 0.f;
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) v += tile[threadIdx.y + i][threadIdx.x + j] * __half2float(k[c * 9 + i * 3 + j]);
    v = v * scale[c] + shift[c];
    y[(size_t)nc * H * W + oy * W + ox] = __float2half(fmaxf(v, 0.f));
}

#define PW_F 32
#define PW_P 64
#define PW_C 16

// per image: out[F, HW] = w[F, C] * y[C, HW]
__global__ __launch_bounds__(128) void pointwise_bn_relu6(const half* __restrict__ y, const half* __restrict__ w,
                                                          const float* __restrict__ scale, const float* __restrict__ shift,
                                                          half* __restrict__ out, int C, int F, int HW) {
    __shared__ float wsm[PW_C][PW_F];
    __shared__ float ysm[PW_C][PW_P];
    const int f0 = blockIdx.y * PW_F, p0 = blockIdx.x * PW_P;
    const half* src = y + (size_t)blockIdx.z * C * HW;
    const int tp = threadIdx.x % 16, tf = threadIdx.x / 16;

    float acc[4][4];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] = 0.f;

    for (int c0 = 0; c0 < C; c0 += PW_C) {
        for (int i = threadIdx.x; i < PW_C * PW_F; i += 128) {
            const int f = i / PW_C, c = i % PW_C;
            wsm[c][f] = (f0 + f < F && c0 + c < C) ? __half2float(w[(f0 + f) * C + c0 + c]) : 0.f;
        }
        for (int i = threadIdx.x; i < PW_C * PW_P; i += 128) {
            const int c = i / PW_P, p = i % PW_P;
            ysm[c][p] = (c0 + c < C && p0 + p < HW) ? __half2float(src[(size_t)(c0 + c) * HW + p0 + p]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < PW_C; ++c)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += wsm[c][tf * 4 + i] * ysm[c][tp + 16 * j];
        __syncthreads();
    }

    for (int i = 0; i < 4; ++i) {
        const int f = f0 + tf * 4 + i;
        if (f >= F) continue;
        for (int j = 0; j < 4; ++j) {
            const int p = p0 + tp + 16 * j;
            if (p < HW) out[((size_t)blockIdx.z * F + f) * HW + p] = __float2half(fminf(fmaxf(acc[i][j] * scale[f] + shift[f], 0.f), 6.f));
        }
    }
}

void mobilenet_unit(half* out, half* tmp, const half* x, const half* dw, const float* dw_scale, const float* dw_shift,
                    const half* pw, const float* pw_scale, const float* pw_shift, int N, int C, int F, int H, int W,
                    cudaStream_t s = 0) {
    dim3 b1(DW_TILE, DW_TILE), g1((W + DW_TILE - 1) / DW_TILE, (H + DW_TILE - 1) / DW_TILE, N * C);
    depthwise3x3_bn_relu<<<g1, b1, 0, s>>>(x, dw, dw_scale, dw_shift, tmp, C, H, W);
    const int HW = H * W;
    dim3 g2((HW + PW_P - 1) / PW_P, (F + PW_F - 1) / PW_F, N);
    pointwise_bn_relu6<<<g2, 128, 0, s>>>(tmp, pw, pw_scale, pw_shift, out, C, F, HW);
}
