// x / ||x||_F over the whole tensor. Partial sums per block, one block finishes, then divide.
#include <cuda_runtime.h>

const int kThreads = 256;
const int kPartials = 1024;

__global__ void sum_of_squares(const float* x, float* partial, size_t n)
{
    __shared__ float cache[kThreads];
    float v = 0;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        v += x[i] * x[i];
    cache[threadIdx.x] = v;
    __syncthreads();
    for (int i = kThreads / 2; i != 0; i /= 2) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = cache[0];
}

__global__ void finish(const float* partial, float* norm)
{
    __shared__ float cache[kPartials];
    cache[threadIdx.x] = partial[threadIdx.x];
    __syncthreads();
    for (int i = kPartials / 2; i != 0; i /= 2) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
    }
    if (threadIdx.x == 0) norm[0] = sqrtf(cache[0]);
}

__global__ void divide(const float* x, const float* norm, float* y, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / norm[0];
}

void frobenius_norm(const float* x, float* partial, float* norm, float* y, int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    sum_of_squares<<<kPartials, kThreads>>>(x, partial, n);
    finish<<<1, kPartials>>>(partial, norm);
    divide<<<(unsigned)((n + kThreads - 1) / kThreads), kThreads>>>(x, norm, y, n);
}
