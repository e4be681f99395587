#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define NT 128
#define RELU(v) ((v) > 0.0f ? (v) : 0.0f)
#define NBLK(n) (((n) + NT - 1) / NT)

/* SqueezeNet fire module: y = concat(relu(e1(q)), relu(e3(q))), q = relu(s(x)).
   R x R kernel with same padding (R is odd); writes channels k0 .. k0+K-1 of an output with KT channels. */
__global__ void conv_relu_k(const __half *x, const __half *w, const __half *b, __half *y,
                            int N, int C, int H, int W, int K, int R, int k0, int KT)
{
    int i = blockIdx.x * NT + threadIdx.x;
    if (i >= N * K * H * W) return;
    int ox = i % W, oy = i / W % H, k = i / (W * H) % K, n = i / (W * H * K);
    float a = __half2float(b[k]);
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++) {
            int iy = oy + r - R / 2;
            if (iy < 0 || iy >= H) continue;
            for (int s = 0; s < R; s++) {
                int ix = ox + s - R / 2;
                if (ix < 0 || ix >= W) continue;
                a += __half2float(x[((n * C + c) * H + iy) * W + ix]) * __half2float(w[((k * C + c) * R + r) * R + s]);
            }
        }
    y[((n * KT + k0 + k) * H + oy) * W + ox] = __float2half(RELU(a));
}

extern "C" int fire_module(const __half *x, const __half *ws, const __half *bs, const __half *w1, const __half *b1,
                           const __half *w3, const __half *b3, __half *q, __half *y,
                           int N, int C, int H, int W, int SQ, int E1, int E3)
{
    int P = N * H * W;
    conv_relu_k<<<NBLK(P * SQ), NT>>>(x, ws, bs, q, N, C, H, W, SQ, 1, 0, SQ);
    conv_relu_k<<<NBLK(P * E1), NT>>>(q, w1, b1, y, N, SQ, H, W, E1, 1, 0, E1 + E3);
    conv_relu_k<<<NBLK(P * E3), NT>>>(q, w3, b3, y, N, SQ, H, W, E3, 3, E1, E1 + E3);
    return (int)cudaGetLastError();
}
