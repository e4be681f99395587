// night 7: symmetric int8 quantization of activations, one scale per row (token)
#include <cuda_fp16.h>

template <int THREADS>
__device__ float block_max(float v)
{
    __shared__ float sh[THREADS];
    sh[threadIdx.x] = v;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sh[threadIdx.x] = fmaxf(sh[threadIdx.x], sh[threadIdx.x + s]);
        __syncthreads();
    }
    return sh[0];
}

template <int THREADS>
__global__ void quant_rowwise_kernel(const __half* __restrict__ x, signed char* __restrict__ q, float* __restrict__ scales,
                                     int cols)
{
    const int row = blockIdx.x;
    const __half* in = x + (size_t)row * cols;
    signed char* out = q + (size_t)row * cols;

    float amax = 0.f;
    for (int c = threadIdx.x; c < cols; c += THREADS) amax = fmaxf(amax, fabsf(__half2float(in[c])));
    amax = block_max<THREADS>(amax);

    const float scale = amax / 127.f;
    if (threadIdx.x == 0) scales[row] = scale;
    const float inv = amax > 0.f ? 127.f / amax : 0.f;

    for (int c = threadIdx.x; c < cols; c += THREADS) {
        int v = __float2int_rn(__half2float(in[c]) * inv);
        v = v > 127 ? 127 : (v < -127 ? -127 : v);
        out[c] = (signed char)v;
    }
}

void quant_rowwise(const __half* x, signed char* q, float* scales, int rows, int cols, cudaStream_t stream)
{
    quant_rowwise_kernel<256><<<rows, 256, 0, stream>>>(x, q, scales, cols);
}
