#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#ifndef CUDA_CHECK
#define CUDA_CHECK(call)                        \
    do {                                        \
        cudaError_t status_ = (call);           \
        if (status_ != cudaSuccess) return;     \
    } while (0)
#endif

constexpr int kThreads = 256;

inline int divUp(int a, int b) { return (a + b - 1) / b; }

__device__ __forceinline__ float toFloat(float v) { return v; }
__device__ __forceinline__ float toFloat(__half v) { return __half2float(v); }
__device__ __forceinline__ float toFloat(__nv_bfloat16 v) { return __bfloat162float(v); }

template <typename T> __device__ __forceinline__ T fromFloat(float v);
template <> __device__ __forceinline__ float fromFloat<float>(float v) { return v; }
template <> __device__ __forceinline__ __half fromFloat<__half>(float v) { return __float2half_rn(v); }
template <> __device__ __forceinline__ __nv_bfloat16 fromFloat<__nv_bfloat16>(float v) { return __float2bfloat16_rn(v); }

// y[m][n] = sum_k x[m][k] * w[n][k] + bias[n], as in torch.nn.Linear
template <typename TIn, typename TOut>
__global__ void linearKernel(TOut* __restrict__ y, const TIn* __restrict__ x, const TIn* __restrict__ w,
                             const TIn* __restrict__ bias, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float acc = bias ? toFloat(bias[col]) : 0.0f;
    for (int i = 0; i < k; ++i) {
        acc += toFloat(x[(size_t)row * k + i]) * toFloat(w[(size_t)col * k + i]);
    }
    y[(size_t)row * n + col] = fromFloat<TOut>(acc);
}

// sum over a block of kThreads; every thread gets the result
__device__ inline float blockSum(float v, float* shared) {
    const int tid = threadIdx.x;
    shared[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads();
    return result;
}

__device__ inline float blockMax(float v, float* shared) {
    const int tid = threadIdx.x;
    shared[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] = fmaxf(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads();
    return result;
}
