#include <cuda_runtime.h>

#define TPB 256
#define CDIV(a, b) (((a) + (b) - 1) / (b))

/* y[n][k][o] = sum_c sum_t x[n][c][o*st + t*dl] * w[k][c][t] */
__global__ void conv1d_k(const float *x, const float *w, float *y,
                         int C, int L, int K, int T, int st, int dl, int O)
{
    int o = blockIdx.x * TPB + threadIdx.x;
    int k = blockIdx.y;
    int n = blockIdx.z;
    if (o >= O) return;

    const float *xn = x + n * C * L;
    const float *wk = w + k * C * T;
    float a = 0.0f;
    for (int c = 0; c < C; c++)
        for (int t = 0; t < T; t++)
            a += xn[c * L + o * st + t * dl] * wk[c * T + t];
    y[(n * K + k) * O + o] = a;
}

extern "C" int conv1d_strided_dilated(const float *x, const float *w, float *y,
                                      int N, int C, int L, int K, int T, int st, int dl)
{
    int O = (L - dl * (T - 1) - 1) / st + 1;
    dim3 grid(CDIV(O, TPB), K, N);
    conv1d_k<<<grid, TPB>>>(x, w, y, C, L, K, T, st, dl, O);
    return (int)cudaGetLastError();
}
