#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math.h>

#define NT 256

/* y[n] = factor * logsumexp_k( mean_hw convT(x, w)[n, k] + b[k] ); w is [C][K][R][R], stride 1 */
__global__ void convt_k(const __half *x, const __half *w, float *t, int C, int H, int W, int K, int R, int OH, int OW)
{
    int p = blockIdx.x * NT + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (p >= OH * OW) return;
    int oy = p / OW, ox = p % OW;
    float a = 0;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++) {
                int y = oy - r, xx = ox - s;
                if (y < 0 || y >= H || xx < 0 || xx >= W) continue;
                a += __half2float(x[((n * C + c) * H + y) * W + xx]) * __half2float(w[((c * K + k) * R + r) * R + s]);
            }
    t[(n * K + k) * OH * OW + p] = a;
}

/* block partials are added to g, which starts at zero */
__global__ void gap_k(const float *t, float *g, int HW)
{
    __shared__ float sh[NT];
    int nk = blockIdx.y, i = blockIdx.x * NT + threadIdx.x;
    sh[threadIdx.x] = i < HW ? t[nk * HW + i] : 0;
    __syncthreads();
    for (int h = NT / 2; h; h /= 2) {
        if (threadIdx.x < h) sh[threadIdx.x] += sh[threadIdx.x + h];
        __syncthreads();
    }
    if (!threadIdx.x) atomicAdd(g + nk, sh[0] / HW);
}

/* a thread does an image: there are few channels */
__global__ void lse_k(const float *g, const __half *b, __half *y, int N, int K, float factor)
{
    int n = blockIdx.x * NT + threadIdx.x;
    if (n >= N) return;
    float m = -INFINITY, s = 0;
    for (int k = 0; k < K; k++) m = fmaxf(m, g[n * K + k] + __half2float(b[k]));
    for (int k = 0; k < K; k++) s += expf(g[n * K + k] + __half2float(b[k]) - m);
    y[n] = __float2half(factor * (m + logf(s)));
}

extern "C" int convt2d_gap_lse(const __half *x, const __half *w, const __half *b, float *t, float *g, __half *y,
                               int N, int C, int H, int W, int K, int R, float factor)
{
    int OH = H + R - 1, OW = W + R - 1, nb = (OH * OW + NT - 1) / NT;
    dim3 grid(nb, K, N);
    convt_k<<<grid, NT>>>(x, w, t, C, H, W, K, R, OH, OW);
    cudaMemset(g, 0, N * K * sizeof(float));
    dim3 grid2(nb, N * K);
    gap_k<<<grid2, NT>>>(t, g, OH * OW);
    lse_k<<<(N + NT - 1) / NT, NT>>>(g, b, y, N, K, factor);
    return (int)cudaGetLastError();
}
