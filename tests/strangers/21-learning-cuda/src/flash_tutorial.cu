// "Flash attention" as I understood it: online softmax, K and V in shared memory, one thread per query. Causal.
#include "helpers.cuh"

#define D 64   // head dimension
#define BK 32  // keys per tile = threads per block

__global__ void flashCausal(const float* Q, const float* K, const float* V, float* O, int T, float scale) {
    __shared__ float k[BK][D];
    __shared__ float v[BK][D];
    int h = blockIdx.y;  // batch * heads
    int i = blockIdx.x * BK + threadIdx.x;
    const float* q0 = Q + ((size_t)h * T) * D;
    const float* k0 = K + ((size_t)h * T) * D;
    const float* v0 = V + ((size_t)h * T) * D;

    float q[D], o[D];
    for (int d = 0; d < D; d++) {
        q[d] = i < T ? q0[i * D + d] * scale : 0.0f;
        o[d] = 0.0f;
    }
    float m = -1e30f, l = 0.0f;

    for (int j0 = 0; j0 <= blockIdx.x * BK; j0 += BK) {
        // every thread loads one row
        int j = j0 + threadIdx.x;
        for (int d = 0; d < D; d++) {
            k[threadIdx.x][d] = j < T ? k0[j * D + d] : 0.0f;
            v[threadIdx.x][d] = j < T ? v0[j * D + d] : 0.0f;
        }
        __syncthreads();
        for (int jj = 0; jj < BK && j0 + jj <= i; jj++) {
            float s = 0.0f;
            for (int d = 0; d < D; d++) s += q[d] * k[jj][d];
            float mNew = fmaxf(m, s);
            float c = expf(m - mNew);
            float p = expf(s - mNew);
            l = l * c + p;
            for (int d = 0; d < D; d++) o[d] = o[d] * c + p * v[jj][d];
            m = mNew;
        }
        __syncthreads();
    }
    if (i < T)
        for (int d = 0; d < D; d++) O[((size_t)h * T + i) * D + d] = o[d] / l;
}

void flashAttention(const float* Q, const float* K, const float* V, float* O, int BH, int T, float scale) {
    flashCausal<<<dim3((T + BK - 1) / BK, BH), BK>>>(Q, K, V, O, T, scale);
    checkLaunch();
}
