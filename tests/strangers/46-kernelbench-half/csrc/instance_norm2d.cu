#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define THREADS 256

// block-wide sum, result valid in every thread
static __device__ float blockSum(float v, float *buf)
{
    buf[threadIdx.x] = v;
    __syncthreads();
    for (int s = THREADS / 2; s >= 1; s /= 2) {
        if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
        __syncthreads();
    }
    float r = buf[0];
    __syncthreads();
    return r;
}

// x: (N, C, H, W), one block normalizes one (n, c) plane.
// three walks over the plane: mean, variance, write.
__global__ void instanceNormKernel(const half *x, const half *gamma, const half *beta, half *y,
                                   int C, int HW, float eps)
{
    __shared__ float buf[THREADS];
    int plane = blockIdx.x;
    int c = plane % C;
    const half *src = x + (long long)plane * HW;
    half *dst = y + (long long)plane * HW;

    float s = 0.f;
    for (int i = threadIdx.x; i < HW; i += THREADS)
        s += (float)src[i];
    float mean = blockSum(s, buf) / HW;

    float q = 0.f;
    for (int i = threadIdx.x; i < HW; i += THREADS) {
        float d = (float)src[i] - mean;
        q += d * d;
    }
    float var = blockSum(q, buf) / HW;   // biased, as torch does
    float inv = rsqrtf(var + eps);

    float g = (float)gamma[c], b = (float)beta[c];
    for (int i = threadIdx.x; i < HW; i += THREADS)
        dst[i] = __float2half(((float)src[i] - mean) * inv * g + b);
}

extern "C" void instance_norm_2d(half *y, const half *x, const half *gamma, const half *beta,
                                 int N, int C, int H, int W, float eps, cudaStream_t stream)
{
    if (N * C == 0) return;
    instanceNormKernel<<<N * C, THREADS, 0, stream>>>(x, gamma, beta, y, C, H * W, eps);
}
