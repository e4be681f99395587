// The rest of the port: a norm, a softmax and a loss.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

// RMSNorm over dim=1 of (N, F, S): x / sqrt(mean(x^2, dim=1) + eps)
__global__ void rms_norm_channels_kernel(const __half* x, __half* y, int N, int F, int S, float eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * S) return;
    int n = i / S;
    int s = i % S;
    const __half* in = x + (size_t)n * F * S + s;
    __half* out = y + (size_t)n * F * S + s;
    float ss = 0.f;
    for (int f = 0; f < F; f++) {
        float v = __half2float(in[(size_t)f * S]);
        ss += v * v;
    }
    float r = rsqrtf(ss / F + eps);
    for (int f = 0; f < F; f++) out[(size_t)f * S] = __float2half(__half2float(in[(size_t)f * S]) * r);
}

extern "C" void rms_norm_channels_f16(const __half* x, __half* y, int N, int F, int S, float eps, cudaStream_t stream)
{
    rms_norm_channels_kernel<<<(N * S + 255) / 256, 256, 0, stream>>>(x, y, N, F, S, eps);
}

// log_softmax over the last dim (even): a warp per row, half2 loads, online max and sum.
__global__ void log_softmax_kernel(const __half2* __restrict__ x, __half2* __restrict__ y, int rows, int cols2)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const __half2* in = x + (size_t)row * cols2;
    __half2* out = y + (size_t)row * cols2;

    float m = -INFINITY, s = 0.f;
    for (int j = lane; j < cols2; j += 32) {
        float2 v = __half22float2(in[j]);
        float mn = fmaxf(m, fmaxf(v.x, v.y));
        s = s * __expf(m - mn) + __expf(v.x - mn) + __expf(v.y - mn);
        m = mn;
    }
    for (int off = 16; off > 0; off >>= 1) {
        float mo = __shfl_xor_sync(0xffffffffu, m, off);
        float so = __shfl_xor_sync(0xffffffffu, s, off);
        float mn = fmaxf(m, mo);
        float a = m == -INFINITY ? 0.f : s * __expf(m - mn);
        float b = mo == -INFINITY ? 0.f : so * __expf(mo - mn);
        s = a + b;
        m = mn;
    }
    float lse = m + logf(s);
    for (int j = lane; j < cols2; j += 32) {
        float2 v = __half22float2(in[j]);
        out[j] = __floats2half2_rn(v.x - lse, v.y - lse);
    }
}

extern "C" void log_softmax_f16(const __half* x, __half* y, int rows, int cols, cudaStream_t stream)
{
    log_softmax_kernel<<<(rows + 3) / 4, 128, 0, stream>>>((const __half2*)x, (__half2*)y, rows, cols / 2);
}

// nn.SmoothL1Loss(beta), reduction='mean'
__global__ void smooth_l1_partial(const float* pred, const float* target, float* partial, int n, float beta)
{
    __shared__ float buf[256];
    float s = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float d = fabsf(pred[i] - target[i]);
        s += d < beta ? 0.5f * d * d / beta : d - 0.5f * beta;
    }
    buf[threadIdx.x] = s;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) buf[threadIdx.x] += buf[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = buf[0];
}

__global__ void smooth_l1_final(const float* partial, float* loss, int blocks, int n)
{
    float s = 0.f;
    for (int i = 0; i < blocks; i++) s += partial[i];
    *loss = s / n;
}

extern "C" void smooth_l1_loss_f32(const float* pred, const float* target, float* loss, float* partial, int rows,
                                   int cols, float beta, cudaStream_t stream)
{
    const int blocks = 256;
    smooth_l1_partial<<<blocks, 256, 0, stream>>>(pred, target, partial, rows * cols, beta);
    smooth_l1_final<<<1, 1, 0, stream>>>(partial, loss, blocks, rows * cols);
}
