#include <cuda_runtime.h>

#define TPB 256
#define EPS 1e-6f

/* one block per sample: max(|a - p|_2 - |a - n|_2 + margin, 0), averaged over the batch */
__global__ void triplet_k(const float *a, const float *p, const float *n, float *loss,
                          int B, int D, float margin)
{
    __shared__ float sp[TPB], sn[TPB];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * D;

    float dp = 0.0f, dn = 0.0f;
    for (int i = t; i < D; i += TPB) {
        float u = a[row + i] - p[row + i] + EPS;
        float v = a[row + i] - n[row + i] + EPS;
        dp += u * u;
        dn += v * v;
    }
    sp[t] = dp;
    sn[t] = dn;
    __syncthreads();

    for (int h = TPB / 2; h; h /= 2) {
        if (t < h) {
            sp[t] += sp[t + h];
            sn[t] += sn[t + h];
        }
        __syncthreads();
    }

    if (t == 0)
        atomicAdd(loss, fmaxf(sqrtf(sp[0]) - sqrtf(sn[0]) + margin, 0.0f) / B);
}

extern "C" int triplet_loss(const float *a, const float *p, const float *n, float *loss,
                            int B, int D, float margin)
{
    cudaMemset(loss, 0, sizeof(float));
    triplet_k<<<B, TPB>>>(a, p, n, loss, B, D, margin);
    return (int)cudaGetLastError();
}
