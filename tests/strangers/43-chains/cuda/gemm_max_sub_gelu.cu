/* x (M x K) * w (K x N), maximum of four neighbouring columns, minus the row's mean of these, GELU (tanh form). f32. */
#include <cuda_runtime.h>
#include <math.h>

#define T 32

__global__ void sgemm_32(const float *x, const float *w, float *c, int M, int N, int K)
{
    __shared__ float xs[T][T + 1], ws[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * T + tx, row0 = blockIdx.y * T + ty;
    float acc0 = 0, acc1 = 0, acc2 = 0, acc3 = 0;
    int k0, k, r;

    for (k0 = 0; k0 < K; k0 += T) {
        for (r = 0; r < T; r += 8) {
            xs[ty + r][tx] = (row0 + r < M && k0 + tx < K) ? x[(row0 + r) * K + k0 + tx] : 0.f;
            ws[ty + r][tx] = (k0 + ty + r < K && col < N) ? w[(k0 + ty + r) * N + col] : 0.f;
        }
        __syncthreads();
        for (k = 0; k < T; k++) {
            float b = ws[k][tx];
            acc0 += xs[ty][k] * b;
            acc1 += xs[ty + 8][k] * b;
            acc2 += xs[ty + 16][k] * b;
            acc3 += xs[ty + 24][k] * b;
        }
        __syncthreads();
    }
    if (col < N) {
        if (row0 < M) c[row0 * N + col] = acc0;
        if (row0 + 8 < M) c[(row0 + 8) * N + col] = acc1;
        if (row0 + 16 < M) c[(row0 + 16) * N + col] = acc2;
        if (row0 + 24 < M) c[(row0 + 24) * N + col] = acc3;
    }
}

__device__ float max_of_four(const float *p)
{
    return fmaxf(fmaxf(p[0], p[1]), fmaxf(p[2], p[3]));
}

__global__ void max_sub_gelu(const float *c, float *out, int N)
{
    __shared__ float part[128];
    int pooled = N / 4, t = threadIdx.x, j, s;
    const float *row = c + (size_t)blockIdx.x * N;
    float sum = 0, mean;

    for (j = t; j < pooled; j += 128) sum += max_of_four(row + 4 * j);
    part[t] = sum;
    __syncthreads();
    for (s = 64; s; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    mean = part[0] / pooled;

    for (j = t; j < pooled; j += 128) {
        float v = max_of_four(row + 4 * j) - mean;
        out[(size_t)blockIdx.x * pooled + j] = 0.5f * v * (1.f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}

extern "C" void gemm_max_subtract_gelu(const float *x, const float *w, float *c, float *out, int M, int N, int K)
{
    dim3 grid((N + T - 1) / T, (M + T - 1) / T), block(T, 8);
    sgemm_32<<<grid, block>>>(x, w, c, M, N, K);
    max_sub_gelu<<<M, 128>>>(c, out, N);
}
