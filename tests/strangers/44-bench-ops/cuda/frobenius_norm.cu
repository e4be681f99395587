// y = x / ||x||_F over the whole tensor. Two passes: float4 partial sums with an
// atomic per block, then the division.
#include <cuda_runtime.h>

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

__global__ void sum_squares(const float* __restrict__ x, float* __restrict__ acc, size_t n) {
    const size_t n4 = n / 4;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const size_t tid = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t step = (size_t)gridDim.x * blockDim.x;

    float s = 0.f;
    for (size_t i = tid; i < n4; i += step) {
        const float4 v = x4[i];
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (size_t i = n4 * 4 + tid; i < n; i += step) s += x[i] * x[i];

    __shared__ float partial[32];
    s = warp_sum(s);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < (blockDim.x >> 5) ? partial[threadIdx.x] : 0.f;
        s = warp_sum(s);
        if (threadIdx.x == 0) atomicAdd(acc, s);
    }
}

__global__ void divide_by_norm(const float* __restrict__ x, const float* __restrict__ acc, float* __restrict__ y, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / sqrtf(*acc);
}

extern "C" void frobenius_normalize(const float* x, float* y, float* sumsq, long long n, cudaStream_t stream) {
    cudaMemsetAsync(sumsq, 0, sizeof(float), stream);
    long long blocks = (n / 4 + 255) / 256;
    if (blocks > 1056) blocks = 1056;
    if (blocks < 1) blocks = 1;
    sum_squares<<<(unsigned)blocks, 256, 0, stream>>>(x, sumsq, (size_t)n);
    divide_by_norm<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, sumsq, y, (size_t)n);
}
