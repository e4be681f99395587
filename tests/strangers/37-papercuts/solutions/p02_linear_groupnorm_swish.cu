// KernelBench level 2 style: Gemm -> GroupNorm -> Swish -> Multiply -> Swish
#include <cuda_fp16.h>

__device__ __forceinline__ float swish(float v) { return v / (1.0f + __expf(-v)); }

// 16x16 outputs per block, 32 deep; the tiles stay half to save shared memory
__global__ void gemm_bias(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ b,
                          float* __restrict__ y, int batch, int in_features, int out_features)
{
    __shared__ half xs[16][34];
    __shared__ half ws[16][34];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty;
    int col = blockIdx.x * 16 + tx;
    int wr = blockIdx.x * 16 + ty;
    float sum = 0.0f;

    for (int k0 = 0; k0 < in_features; k0 += 32) {
        for (int kk = tx; kk < 32; kk += 16) {
            int k = k0 + kk;
            xs[ty][kk] = (row < batch && k < in_features) ? x[(size_t)row * in_features + k] : __float2half(0.0f);
            ws[ty][kk] = (wr < out_features && k < in_features) ? w[(size_t)wr * in_features + k] : __float2half(0.0f);
        }
        __syncthreads();
        #pragma unroll
        for (int kk = 0; kk < 32; kk++)
            sum = fmaf(__half2float(xs[ty][kk]), __half2float(ws[tx][kk]), sum);
        __syncthreads();
    }
    if (row < batch && col < out_features)
        y[(size_t)row * out_features + col] = sum + __half2float(b[col]);
}

// block = one (row, group); two-pass variance in shared memory
__global__ void groupnorm_swish(const float* __restrict__ y, const half* __restrict__ gamma, const half* __restrict__ beta,
                                const half* __restrict__ mul, half* __restrict__ out, int groups, int per_group, float eps)
{
    __shared__ float buf[128];
    int g = blockIdx.x, row = blockIdx.y, t = threadIdx.x;
    size_t base = (size_t)row * groups * per_group + (size_t)g * per_group;

    float s = 0.0f;
    for (int i = t; i < per_group; i += 128) s += y[base + i];
    buf[t] = s;
    __syncthreads();
    for (int o = 64; o > 0; o /= 2) {
        if (t < o) buf[t] += buf[t + o];
        __syncthreads();
    }
    float mean = buf[0] / per_group;
    __syncthreads();

    s = 0.0f;
    for (int i = t; i < per_group; i += 128) {
        float d = y[base + i] - mean;
        s += d * d;
    }
    buf[t] = s;
    __syncthreads();
    for (int o = 64; o > 0; o /= 2) {
        if (t < o) buf[t] += buf[t + o];
        __syncthreads();
    }
    float rstd = rsqrtf(buf[0] / per_group + eps);

    for (int i = t; i < per_group; i += 128) {
        int ch = g * per_group + i;
        float v = (y[base + i] - mean) * rstd * __half2float(gamma[ch]) + __half2float(beta[ch]);
        v = swish(v);
        v *= __half2float(mul[ch]);
        out[base + i] = __float2half(swish(v));
    }
}

void linear_groupnorm_swish(const half* x, const half* w, const half* b, const half* gamma, const half* beta, const half* mul,
                            float* y, half* out, int batch, int in_features, int groups, int per_group, float eps)
{
    int out_features = groups * per_group;
    dim3 threads(16, 16);
    dim3 blocks((out_features + 15) / 16, (batch + 15) / 16);
    gemm_bias<<<blocks, threads>>>(x, w, b, y, batch, in_features, out_features);
    groupnorm_swish<<<dim3(groups, batch), 128>>>(y, gamma, beta, mul, out, groups, per_group, eps);
}
