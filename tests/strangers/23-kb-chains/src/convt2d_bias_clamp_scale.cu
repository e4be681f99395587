#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define NT 256
#define MINF(a, b) ((a) < (b) ? (a) : (b))
#define MAXF(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP01(v) MINF(MAXF((v), 0.0f), 1.0f)

/* transposed conv, w is [C][K][R][R]; result in float */
__global__ void convt_k(const __half *x, const __half *w, float *t, int C, int H, int W, int K, int R,
                        int st, int pd, int OH, int OW, int total)
{
    int i = blockIdx.x * NT + threadIdx.x;
    if (i >= total) return;
    int ox = i % OW, oy = i / OW % OH, k = i / (OW * OH) % K, n = i / (OW * OH * K);
    float a = 0;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++) {
                int y = oy + pd - r, xx = ox + pd - s;
                if (y < 0 || xx < 0 || y % st || xx % st) continue;
                y /= st;
                xx /= st;
                if (y >= H || xx >= W) continue;
                a += __half2float(x[((n * C + c) * H + y) * W + xx]) * __half2float(w[((c * K + k) * R + r) * R + s]);
            }
    t[i] = a;
}

__global__ void epi_k(const float *t, const __half *b, __half *y, float sc, int K, int HW, int total)
{
    int i = blockIdx.x * NT + threadIdx.x;
    if (i >= total) return;
    float v = t[i] + __half2float(b[i / HW % K]);
    v = CLAMP01(v);
    v = v * sc;
    v = CLAMP01(v);
    v = v / sc;
    y[i] = __float2half(v);
}

extern "C" int convt2d_bias_clamp_scale(const __half *x, const __half *w, const __half *b, float *t, __half *y,
                                        int N, int C, int H, int W, int K, int R, int st, int pd, int op, float sc)
{
    int OH = (H - 1) * st - 2 * pd + R + op;
    int OW = (W - 1) * st - 2 * pd + R + op;
    int total = N * K * OH * OW, nb = (total + NT - 1) / NT;
    convt_k<<<nb, NT>>>(x, w, t, C, H, W, K, R, st, pd, OH, OW, total);
    epi_k<<<nb, NT>>>(t, b, y, sc, K, OH * OW, total);
    return (int)cudaGetLastError();
}
