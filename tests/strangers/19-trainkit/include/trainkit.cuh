#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace trainkit {

template <typename T>
struct convert;

template <>
struct convert<float> {
    static __device__ float load(const float* p) { return *p; }
    static __device__ void store(float* p, float v) { *p = v; }
};

template <>
struct convert<__half> {
    static __device__ float load(const __half* p) { return __half2float(*p); }
    static __device__ void store(__half* p, float v) { *p = __float2half(v); }
};

template <>
struct convert<__nv_bfloat16> {
    static __device__ float load(const __nv_bfloat16* p) { return __bfloat162float(*p); }
    static __device__ void store(__nv_bfloat16* p, float v) { *p = __float2bfloat16(v); }
};

template <typename T>
__device__ inline float load(const T* p) {
    return convert<T>::load(p);
}

template <typename T>
__device__ inline void store(T* p, float v) {
    convert<T>::store(p, v);
}

struct add_op {
    static __device__ float identity() { return 0.0f; }
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct max_op {
    static __device__ float identity() { return -3.402823466e+38f; }
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

// reduction over a block of BLOCK threads (a multiple of 32, at most 1024); the result is in all threads
template <int BLOCK, typename Op>
__device__ float block_reduce(float value, Op op = Op()) {
    __shared__ float partial[BLOCK / 32];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value = op(value, __shfl_down_sync(0xffffffffu, value, offset));
    __syncthreads();  // partial may still be read by an earlier reduction
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float result = Op::identity();
    for (int i = 0; i < BLOCK / 32; ++i) result = op(result, partial[i]);
    return result;
}

template <typename F>
__global__ void for_each_kernel(int64_t n, F f) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}

template <typename F>
void for_each(cudaStream_t stream, int64_t n, F f) {
    const int64_t blocks = (n + 255) / 256;
    for_each_kernel<F><<<static_cast<unsigned>(blocks < 2048 ? blocks : 2048), 256, 0, stream>>>(n, f);
}

}  // namespace trainkit
