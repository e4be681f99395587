#include "common.cuh"

static __device__ __forceinline__ float op_silu(float x) {
    return x / (1.0f + expf(-x));
}

static __device__ __forceinline__ float op_gelu_quick(float x) {
    const float GELU_QUICK_COEF = -1.702f;
    return x * (1.0f / (1.0f + expf(GELU_QUICK_COEF * x)));
}

static __device__ __forceinline__ float op_hardswish(float x) {
    return x * fminf(1.0f, fmaxf(0.0f, (x + 3.0f) / 6.0f));
}

template <float (*op)(float), typename T>
static __global__ void unary_op_kernel(const T * x, T * dst, const int k) {
    const int i = blockDim.x*blockIdx.x + threadIdx.x;

    if (i >= k) {
        return;
    }

    dst[i] = (T)op((float)x[i]);
}

template <float (*op)(float), typename T>
static void unary_cuda(const T * x, T * dst, const int k) {
    const int num_blocks = (k + CUDA_RELU_BLOCK_SIZE - 1) / CUDA_RELU_BLOCK_SIZE;
    unary_op_kernel<op><<<num_blocks, CUDA_RELU_BLOCK_SIZE>>>(x, dst, k);
}

#define UNARY_CUDA(name, type)                              \
    void ggt_##name(const type * x, type * dst, const int k) { \
        unary_cuda<op_##name>(x, dst, k);                   \
    }

UNARY_CUDA(silu, float)
UNARY_CUDA(gelu_quick, float)

void ggt_hardswish_f16(const half * x, half * dst, const int k, cudaStream_t stream) {
    const int num_blocks = (k + CUDA_RELU_BLOCK_SIZE - 1) / CUDA_RELU_BLOCK_SIZE;
    unary_op_kernel<op_hardswish><<<num_blocks, CUDA_RELU_BLOCK_SIZE, 0, stream>>>(x, dst, k);
}

// gated: the row holds [gate | up]
static __global__ void swiglu_kernel(const float * __restrict__ x, float * __restrict__ dst, const int64_t k, const int64_t n) {
    const int64_t i = (int64_t)blockDim.x*blockIdx.x + threadIdx.x;
    if (i >= k) {
        return;
    }
    const int64_t row = i / n;
    const int64_t col = i % n;
    dst[i] = op_silu(x[row*2*n + col]) * x[row*2*n + n + col];
}

void ggt_swiglu(const float * x, float * dst, const int64_t nrows, const int64_t n, cudaStream_t stream) {
    const int64_t k = nrows*n;
    swiglu_kernel<<<(k + 255)/256, 256, 0, stream>>>(x, dst, k, n);
}
