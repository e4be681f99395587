// night 4: gelu(batchnorm(scale * (x W^T + b))), statistics of the batch (training mode)
#include <cuda_runtime.h>

namespace {

constexpr int T = 16;

__global__ void linear_scale(const float* x, const float* w, const float* b, float* y, int M, int N, int K, float scale)
{
    __shared__ float xs[T][T];
    __shared__ float ws[T][T + 1];
    int row = blockIdx.y * T + threadIdx.y;
    int col = blockIdx.x * T + threadIdx.x;
    int wrow = blockIdx.x * T + threadIdx.y;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        int k = k0 + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] = row < M && k < K ? x[(size_t)row * K + k] : 0;
        ws[threadIdx.y][threadIdx.x] = wrow < N && k < K ? w[(size_t)wrow * K + k] : 0;
        __syncthreads();
        for (int i = 0; i < T; i++)
            acc += xs[threadIdx.y][i] * ws[threadIdx.x][i];
        __syncthreads();
    }
    if (row < M && col < N)
        y[(size_t)row * N + col] = scale * (acc + b[col]);
}

// a thread per feature walks down its column; neighbours read neighbours
__global__ void column_stats(const float* y, float* mean, float* rstd, int M, int N, float eps)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) return;
    float s = 0;
    for (int m = 0; m < M; m++) s += y[(size_t)m * N + n];
    float mu = s / M;
    float q = 0;
    for (int m = 0; m < M; m++) {
        float d = y[(size_t)m * N + n] - mu;
        q += d * d;
    }
    mean[n] = mu;
    rstd[n] = rsqrtf(q / M + eps);
}

__global__ void normalize_gelu(const float* y, const float* mean, const float* rstd, const float* gamma,
                               const float* beta, float* out, int M, int N)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y;
    if (n >= N) return;
    float v = (y[(size_t)m * N + n] - mean[n]) * rstd[n] * gamma[n] + beta[n];
    out[(size_t)m * N + n] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

}  // namespace

void linear_scale_bn_gelu(const float* x, const float* w, const float* b, const float* gamma, const float* beta,
                          float* y, float* mean, float* rstd, float* out, int M, int N, int K, float scale, float eps)
{
    linear_scale<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(x, w, b, y, M, N, K, scale);
    column_stats<<<(N + 127) / 128, 128>>>(y, mean, rstd, M, N, eps);
    normalize_gelu<<<dim3((N + 255) / 256, M), 256>>>(y, mean, rstd, gamma, beta, out, M, N);
}
