#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "activations.cuh"

#define TILE 32
#define RED 256

__global__ void linear_f32out(const __half* x, const __half* w, const __half* b, float* t, int M, int N, int K)
{
    __shared__ __half xs[TILE][TILE + 2];
    __shared__ __half ws[TILE][TILE + 2];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    int wrow = blockIdx.x * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int t0 = 0; t0 < K; t0 += TILE) {
        int kk = t0 + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] = (row < M && kk < K) ? x[(size_t)row * K + kk] : __float2half(0.0f);
        ws[threadIdx.y][threadIdx.x] = (wrow < N && kk < K) ? w[(size_t)wrow * K + kk] : __float2half(0.0f);
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += __half2float(xs[threadIdx.y][i]) * __half2float(ws[threadIdx.x][i]);
        __syncthreads();
    }
    if (row < M && col < N)
        t[(size_t)row * N + col] = sum + __half2float(b[col]);
}

// Batch norm with the statistics of the batch (training mode), then GELU.  One block per feature, in place.
__global__ void batchnorm_gelu(float* t, const __half* gamma, const __half* beta, int M, int N, float eps)
{
    __shared__ float sh[RED];
    int col = blockIdx.x;
    int tid = threadIdx.x;

    float s = 0.0f;
    for (int i = tid; i < M; i += RED) s += t[(size_t)i * N + col];
    sh[tid] = s;
    __syncthreads();
    for (int h = RED / 2; h > 0; h >>= 1) {
        if (tid < h) sh[tid] += sh[tid + h];
        __syncthreads();
    }
    float mean = sh[0] / M;
    __syncthreads();

    float q = 0.0f;
    for (int i = tid; i < M; i += RED) {
        float d = t[(size_t)i * N + col] - mean;
        q += d * d;
    }
    sh[tid] = q;
    __syncthreads();
    for (int h = RED / 2; h > 0; h >>= 1) {
        if (tid < h) sh[tid] += sh[tid + h];
        __syncthreads();
    }
    float scale = rsqrtf(sh[0] / M + eps) * __half2float(gamma[col]);
    float shift = __half2float(beta[col]);

    for (int i = tid; i < M; i += RED) {
        size_t at = (size_t)i * N + col;
        t[at] = act_gelu((t[at] - mean) * scale + shift);
    }
}

// Group norm of a row, mean over the features, ReLU.  One block per row.
__global__ void groupnorm_mean_relu(const float* t, const __half* gamma, const __half* beta, __half* out,
                                    int N, int G, float eps)
{
    __shared__ float sh[RED];
    __shared__ float sh2[RED];
    int tid = threadIdx.x;
    int per = N / G;
    const float* row = t + (size_t)blockIdx.x * N;

    float total = 0.0f;
    for (int g = 0; g < G; g++) {
        float s = 0.0f, q = 0.0f;
        for (int i = tid; i < per; i += RED) {
            float v = row[g * per + i];
            s += v;
            q += v * v;
        }
        sh[tid] = s;
        sh2[tid] = q;
        __syncthreads();
        for (int h = RED / 2; h > 0; h >>= 1) {
            if (tid < h) {
                sh[tid] += sh[tid + h];
                sh2[tid] += sh2[tid + h];
            }
            __syncthreads();
        }
        float mean = sh[0] / per;
        float rstd = rsqrtf(fmaxf(sh2[0] / per - mean * mean, 0.0f) + eps);
        __syncthreads();

        for (int i = tid; i < per; i += RED) {
            int c = g * per + i;
            total += (row[c] - mean) * rstd * __half2float(gamma[c]) + __half2float(beta[c]);
        }
    }

    sh[tid] = total;
    __syncthreads();
    for (int h = RED / 2; h > 0; h >>= 1) {
        if (tid < h) sh[tid] += sh[tid + h];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = __float2half(fmaxf(sh[0] / N, 0.0f));
}

extern "C" void gemm_bn_gelu_gn_mean_relu(const __half* x, const __half* w, const __half* b,
                                          const __half* bn_gamma, const __half* bn_beta,
                                          const __half* gn_gamma, const __half* gn_beta,
                                          float* tmp, __half* out,
                                          int M, int K, int N, int G, float eps)
{
    dim3 threads(TILE, TILE);
    dim3 blocks(grid_for(N, TILE), grid_for(M, TILE));
    linear_f32out<<<blocks, threads>>>(x, w, b, tmp, M, N, K);
    batchnorm_gelu<<<N, RED>>>(tmp, bn_gamma, bn_beta, M, N, eps);
    groupnorm_mean_relu<<<M, RED>>>(tmp, gn_gamma, gn_beta, out, N, G, eps);
}
