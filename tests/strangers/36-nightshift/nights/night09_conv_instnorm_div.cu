// night 9: conv 3x3 (valid) -> instance norm -> divide by a constant
#include <cuda_fp16.h>

// a thread per output pixel and channel; the weights of the channel sit in shared memory
__global__ void conv3x3_valid(const __half* __restrict__ x, const __half* __restrict__ w, const float* __restrict__ bias,
                              float* __restrict__ y, int C, int H, int W, int K)
{
    extern __shared__ float ws[];   // C * 9
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    for (int i = threadIdx.x; i < C * 9; i += blockDim.x) ws[i] = __half2float(w[(size_t)k * C * 9 + i]);
    __syncthreads();

    const int OH = H - 2, OW = W - 2;
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= OH * OW) return;
    const int oy = idx / OW, ox = idx % OW;

    float acc = bias[k];
    for (int c = 0; c < C; ++c) {
        const __half* p = x + (((size_t)n * C + c) * H + oy) * W + ox;
        const float* f = ws + c * 9;
#pragma unroll
        for (int r = 0; r < 3; ++r)
#pragma unroll
            for (int s = 0; s < 3; ++s) acc += __half2float(p[r * W + s]) * f[r * 3 + s];
    }
    y[((size_t)n * K + k) * OH * OW + idx] = acc;
}

__device__ float block_sum(float v, float* sh)
{
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    __syncthreads();               // sh may still be read by the previous call
    if (lane == 0) sh[warp] = v;
    __syncthreads();
    float s = 0.f;
    for (int i = 0; i < (int)blockDim.x / 32; ++i) s += sh[i];
    return s;
}

// a block per plane
__global__ void instnorm_div(const float* __restrict__ y, __half* __restrict__ out, int plane, float eps, float divisor)
{
    __shared__ float sh[32];
    const float* src = y + (size_t)blockIdx.x * plane;
    __half* dst = out + (size_t)blockIdx.x * plane;

    float s = 0.f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) s += src[i];
    const float mean = block_sum(s, sh) / plane;

    float q = 0.f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
        const float d = src[i] - mean;
        q += d * d;
    }
    const float rstd = rsqrtf(block_sum(q, sh) / plane + eps);

    for (int i = threadIdx.x; i < plane; i += blockDim.x) dst[i] = __float2half((src[i] - mean) * rstd / divisor);
}

void conv_instnorm_div(const __half* x, const __half* w, const float* bias, float* conv, __half* out, int N, int C, int H,
                       int W, int K, float eps, float divisor, cudaStream_t stream)
{
    const int plane = (H - 2) * (W - 2);
    conv3x3_valid<<<dim3((plane + 255) / 256, K, N), 256, C * 9 * sizeof(float), stream>>>(x, w, bias, conv, C, H, W, K);
    instnorm_div<<<N * K, 512, 0, stream>>>(conv, out, plane, eps, divisor);
}
