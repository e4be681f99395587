// GhostNet's ghost module, inference, fp16 NCHW.
//
//   first half of the output:  p = relu(bn1(conv1x1(x)))          Ci -> M
//   second half:               g = relu(bn2(depthwise3x3(p)))     M  -> M
//
// bn1 and bn2 were folded into scale and shift on the host. The concatenation is free, both kernels write where their
// half belongs, and the second one reads the first half from there.

#include <cuda_fp16.h>

#define THREADS 256

__global__ void ghost_primary(const __half *x, const __half *w, const float *scale, const float *shift, __half *out,
                              int Ci, int M, int HW)
{
    int p = blockIdx.x * THREADS + threadIdx.x;
    int m = blockIdx.y;
    int n = blockIdx.z;
    if (p >= HW) return;

    float acc = 0.f;
    for (int c = 0; c < Ci; c++)
        acc += __half2float(w[m * Ci + c]) * __half2float(x[((size_t)n * Ci + c) * HW + p]);

    acc = acc * scale[m] + shift[m];
    out[((size_t)n * 2 * M + m) * HW + p] = __float2half(acc > 0.f ? acc : 0.f);
}

__global__ void ghost_cheap(const __half *w, const float *scale, const float *shift, __half *out, int M, int H, int W)
{
    int p = blockIdx.x * THREADS + threadIdx.x;
    int m = blockIdx.y;
    int n = blockIdx.z;
    if (p >= H * W) return;
    int y = p / W, x = p % W;

    const __half *src = out + ((size_t)n * 2 * M + m) * H * W;
    __half *dst = out + ((size_t)n * 2 * M + M + m) * H * W;

    float acc = 0.f;
    for (int dy = -1; dy <= 1; dy++) {
        if (y + dy < 0 || y + dy >= H) continue;
        for (int dx = -1; dx <= 1; dx++) {
            if (x + dx < 0 || x + dx >= W) continue;
            acc += __half2float(src[(y + dy) * W + x + dx]) * __half2float(w[m * 9 + (dy + 1) * 3 + dx + 1]);
        }
    }
    acc = acc * scale[m] + shift[m];
    dst[p] = __float2half(acc > 0.f ? acc : 0.f);
}

extern "C" void ghost_module(const __half *x, const __half *w1, const float *scale1, const float *shift1,
                             const __half *w2, const float *scale2, const float *shift2, __half *out,
                             int N, int Ci, int M, int H, int W)
{
    dim3 grid((H * W + THREADS - 1) / THREADS, M, N);
    ghost_primary<<<grid, THREADS>>>(x, w1, scale1, shift1, out, Ci, M, H * W);
    ghost_cheap<<<grid, THREADS>>>(w2, scale2, shift2, out, M, H, W);
}
