// nn.BatchNorm2d in training mode, bf16 activations, fp32 parameters; updates the running statistics.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void bn_stats(const __nv_bfloat16* x, float* save_mean, float* save_invstd, float* running_mean,
                         float* running_var, int N, int C, int HW, float momentum, float eps)
{
    const int c = blockIdx.x;
    const int count = N * HW;
    extern __shared__ float sm[];
    float* ssum = sm;
    float* ssq = sm + blockDim.x;

    // two passes, the variance around the mean
    float s = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int n = i / HW, p = i % HW;
        s += __bfloat162float(x[((size_t)n * C + c) * HW + p]);
    }
    ssum[threadIdx.x] = s;
    __syncthreads();
    for (int k = blockDim.x >> 1; k > 0; k >>= 1) {
        if (threadIdx.x < k) ssum[threadIdx.x] += ssum[threadIdx.x + k];
        __syncthreads();
    }
    const float mean = ssum[0] / count;

    float q = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int n = i / HW, p = i % HW;
        float d = __bfloat162float(x[((size_t)n * C + c) * HW + p]) - mean;
        q += d * d;
    }
    ssq[threadIdx.x] = q;
    __syncthreads();
    for (int k = blockDim.x >> 1; k > 0; k >>= 1) {
        if (threadIdx.x < k) ssq[threadIdx.x] += ssq[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float var = ssq[0] / count;
        save_mean[c] = mean;
        save_invstd[c] = rsqrtf(var + eps);
        const float unbiased = ssq[0] / max(count - 1, 1);
        running_mean[c] = (1.f - momentum) * running_mean[c] + momentum * mean;
        running_var[c] = (1.f - momentum) * running_var[c] + momentum * unbiased;
    }
}

__global__ void bn_apply(const __nv_bfloat16* x, __nv_bfloat16* y, const float* weight, const float* bias,
                         const float* mean, const float* invstd, int C, int HW, size_t total)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (size_t)gridDim.x * blockDim.x) {
        int c = (i / HW) % C;
        float v = (__bfloat162float(x[i]) - mean[c]) * invstd[c];
        y[i] = __float2bfloat16(v * weight[c] + bias[c]);
    }
}

extern "C" void batchnorm2d_train_bf16(const __nv_bfloat16* x, const float* weight, const float* bias,
                                       float* running_mean, float* running_var, __nv_bfloat16* y, float* save_mean,
                                       float* save_invstd, int N, int C, int H, int W, float momentum, float eps)
{
    const size_t total = (size_t)N * C * H * W;
    if (total == 0 || (size_t)N * H * W > 2147480000u) return;
    const int threads = 512;
    bn_stats<<<C, threads, 2 * threads * sizeof(float)>>>(x, save_mean, save_invstd, running_mean, running_var, N, C,
                                                          H * W, momentum, eps);
    size_t blocks = (total + threads - 1) / threads;
    if (blocks > 4096) blocks = 4096;
    bn_apply<<<(int)blocks, threads>>>(x, y, weight, bias, save_mean, save_invstd, C, H * W, total);
}
