// Cross entropy with label smoothing over bf16 logits, mean over the batch.
//   loss_i = lse(x_i) - (1 - eps) * x_i[t_i] - eps * mean(x_i)
// Online softmax: one sweep over the row.
#include <cuda_bf16.h>
#include <math.h>

struct MaxSum {
    float m;   // running maximum
    float s;   // sum of exp(x - m)
};

__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b)
{
    MaxSum big = a.m >= b.m ? a : b;
    MaxSum small = a.m >= b.m ? b : a;
    if (small.s > 0.0f) big.s += small.s * expf(small.m - big.m);
    return big;
}

__global__ void ce_smooth_rows(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ target,
                               float* __restrict__ losses, int V, float smoothing)
{
    __shared__ MaxSum sh_ms[8];
    __shared__ float sh_sum[8];

    const __nv_bfloat16* row = logits + (size_t)blockIdx.x * V;
    MaxSum ms = {-INFINITY, 0.0f};
    float sum = 0.0f;
    for (int i = threadIdx.x; i < V; i += blockDim.x) {
        float x = __bfloat162float(row[i]);
        MaxSum one = {x, 1.0f};
        ms = merge(ms, one);
        sum += x;
    }
    for (int off = 16; off > 0; off >>= 1) {
        MaxSum other;
        other.m = __shfl_xor_sync(0xffffffff, ms.m, off);
        other.s = __shfl_xor_sync(0xffffffff, ms.s, off);
        ms = merge(ms, other);
        sum += __shfl_xor_sync(0xffffffff, sum, off);
    }
    if ((threadIdx.x & 31) == 0) {
        sh_ms[threadIdx.x >> 5] = ms;
        sh_sum[threadIdx.x >> 5] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) {
            ms = merge(ms, sh_ms[w]);
            sum += sh_sum[w];
        }
        float lse = ms.m + logf(ms.s);
        float xt = __bfloat162float(row[target[blockIdx.x]]);
        losses[blockIdx.x] = lse - (1.0f - smoothing) * xt - smoothing * sum / V;
    }
}

__global__ void mean_kernel(const float* __restrict__ losses, float* __restrict__ out, int n)
{
    __shared__ float sh[32];
    float s = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += losses[i];
    for (int off = 16; off > 0; off >>= 1) s += __shfl_xor_sync(0xffffffff, s, off);
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = sh[threadIdx.x];
        for (int off = 16; off > 0; off >>= 1) s += __shfl_xor_sync(0xffffffff, s, off);
        if (threadIdx.x == 0) *out = s / n;
    }
}

void cross_entropy_smooth(const __nv_bfloat16* logits, const int* target, float* losses, float* loss, int N, int V,
                          float smoothing, cudaStream_t stream)
{
    ce_smooth_rows<<<N, 256, 0, stream>>>(logits, target, losses, V, smoothing);
    mean_kernel<<<1, 1024, 0, stream>>>(losses, loss, N);
}
