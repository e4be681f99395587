// C = alpha * A * B + beta * C with shared memory tiles. Column-major like BLAS.
#include "helpers.cuh"

#define T 24  // tile, 24 * 24 = 576 threads

__global__ void sgemmTiled(int m, int n, int k, float alpha, const float* A, const float* B, float beta, float* C) {
    __shared__ float a[T][T];
    __shared__ float b[T][T];
    int i = blockIdx.x * T + threadIdx.y;  // row of C
    int j = blockIdx.y * T + threadIdx.x;  // column of C
    float s = 0;
    for (int t = 0; t < (k + T - 1) / T; t++) {
        int ka = t * T + threadIdx.x;
        int kb = t * T + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = (i < m && ka < k) ? A[ka * m + i] : 0.0f;
        b[threadIdx.y][threadIdx.x] = (kb < k && j < n) ? B[j * k + kb] : 0.0f;
        __syncthreads();
        for (int q = 0; q < T; q++) s += a[threadIdx.y][q] * b[q][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n) C[j * m + i] = alpha * s + beta * C[j * m + i];
}

void sgemm(int m, int n, int k, float alpha, const float* A, const float* B, float beta, float* C) {
    dim3 threads(T, T);
    dim3 blocks((m + T - 1) / T, (n + T - 1) / T);
    sgemmTiled<<<blocks, threads>>>(m, n, k, alpha, A, B, beta, C);
    checkLaunch();
}
