#include <cuda_runtime.h>

#define TPB 128

/* gather form: w is [C][K][T] */
__global__ void convt1d_k(const float *x, const float *w, float *y,
                          int C, int L, int K, int T, int st, int pd, int dl, int O, int total)
{
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i >= total) return;
    int o = i % O, k = i / O % K, n = i / O / K;

    float a = 0.0f;
    for (int t = 0; t < T; t++) {
        int q = o + pd - t * dl;
        if (q < 0 || q % st) continue;
        q /= st;
        if (q >= L) continue;
        for (int c = 0; c < C; c++)
            a += x[(n * C + c) * L + q] * w[(c * K + k) * T + t];
    }
    y[i] = a;
}

extern "C" int conv_transpose1d(const float *x, const float *w, float *y,
                                int N, int C, int L, int K, int T, int st, int pd, int dl)
{
    int O = (L - 1) * st - 2 * pd + dl * (T - 1) + 1;
    int total = N * K * O;
    convt1d_k<<<(total + TPB - 1) / TPB, TPB>>>(x, w, y, C, L, K, T, st, pd, dl, O, total);
    return (int)cudaGetLastError();
}
