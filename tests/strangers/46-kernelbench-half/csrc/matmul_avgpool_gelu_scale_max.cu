// KernelBench level 2: Matmul + AvgPool1d + GELU + Scale + Max
//
//   y = x @ W^T + b            [batch, out_features]
//   p = avg_pool1d(y, pool)    [batch, out_features / pool]
//   r = max_j(gelu(p_j) * s)   [batch]
//
// First version that passes the correctness check. TODO: fuse, use tensor cores.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

__global__ void linear_kernel(const __half* __restrict__ x,
                              const __half* __restrict__ weight,
                              const __half* __restrict__ bias,
                              __half* __restrict__ y,
                              int batch, int in_features, int out_features) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;   // output feature
    int row = blockIdx.y * blockDim.y + threadIdx.y;   // sample

    if (row < batch && col < out_features) {
        float acc = 0.0f;
        for (int k = 0; k < in_features; ++k) {
            acc += __half2float(x[(size_t)row * in_features + k]) *
                   __half2float(weight[(size_t)col * in_features + k]);
        }
        acc += __half2float(bias[col]);
        y[(size_t)row * out_features + col] = __float2half(acc);
    }
}

__device__ float gelu_exact(float v) {
    return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f));
}

// One block per sample.
__global__ void pool_gelu_scale_max_kernel(const __half* __restrict__ y,
                                           __half* __restrict__ out,
                                           int out_features, int pool, float scale) {
    __shared__ float smax[256];
    const int row = blockIdx.x;
    const int pooled = out_features / pool;
    const __half* yrow = y + (size_t)row * out_features;

    float best = -INFINITY;
    for (int j = threadIdx.x; j < pooled; j += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < pool; ++t) {
            sum += __half2float(yrow[j * pool + t]);
        }
        float v = gelu_exact(sum / pool) * scale;
        best = fmaxf(best, v);
    }
    smax[threadIdx.x] = best;
    __syncthreads();

    for (int offset = blockDim.x / 2; offset > 0; offset >>= 1) {
        if (threadIdx.x < offset) {
            smax[threadIdx.x] = fmaxf(smax[threadIdx.x], smax[threadIdx.x + offset]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[row] = __float2half(smax[0]);
    }
}

void matmul_avgpool_gelu_scale_max(const __half* x, const __half* weight, const __half* bias,
                                   __half* y_tmp, __half* out,
                                   int batch, int in_features, int out_features,
                                   int pool, float scale) {
    dim3 block(16, 16);
    dim3 grid((out_features + 15) / 16, (batch + 15) / 16);
    linear_kernel<<<grid, block>>>(x, weight, bias, y_tmp, batch, in_features, out_features);
    pool_gelu_scale_max_kernel<<<batch, 256>>>(y_tmp, out, out_features, pool, scale);
}
