// Symmetric 8-bit quantisation with a scale for each group of columns; the last group of a row may be shorter.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

template <int THREADS>
__global__ void quantize_group_kernel(const __half* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale,
                                      int cols, int group)
{
    __shared__ float amax[THREADS];
    const int row = blockIdx.y;
    const int g = blockIdx.x;
    const int first = g * group;
    const int last = min(first + group, cols);
    const __half* src = x + (size_t)row * cols;

    float m = 0.f;
    for (int c = first + threadIdx.x; c < last; c += THREADS) m = fmaxf(m, fabsf(__half2float(src[c])));
    amax[threadIdx.x] = m;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) amax[threadIdx.x] = fmaxf(amax[threadIdx.x], amax[threadIdx.x + s]);
        __syncthreads();
    }

    const float sc = amax[0] > 0.f ? amax[0] / 127.f : 1.f;
    for (int c = first + threadIdx.x; c < last; c += THREADS) {
        float v = rintf(__half2float(src[c]) / sc);
        v = fminf(fmaxf(v, -127.f), 127.f);
        q[(size_t)row * cols + c] = (int8_t)v;
    }
    if (threadIdx.x == 0) scale[(size_t)row * gridDim.x + g] = sc;
}

cudaError_t quantize_groups_int8(const __half* x, int8_t* q, float* scale, int rows, int cols, int group,
                                 cudaStream_t stream)
{
    if (group <= 0 || rows > 65535) return cudaErrorInvalidValue;
    const int groups = (cols + group - 1) / group;
    quantize_group_kernel<64><<<dim3(groups, rows), 64, 0, stream>>>(x, q, scale, cols, group);
    return cudaGetLastError();
}
